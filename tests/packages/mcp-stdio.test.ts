import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'
import { findNode20, installClient } from './install.ts'

/** The program for MCP clients as users install it. */

let market: Market
let installed: Awaited<ReturnType<typeof installClient>>
beforeAll(async () => {
  ;[market, installed] = await Promise.all([startMarket(), installClient('mcp-stdio')])
})
afterAll(async () => {
  installed?.remove()
  await market?.stop()
})

test.each(['Node 20', 'Node 24'])(
  'on %s: the installed program lists its tools and calls one',
  async (version) => {
    const command = version === 'Node 20' ? await findNode20() : process.execPath
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(
      new StdioClientTransport({
        command,
        args: [join(installed.package, 'bin/mcp-stdio.mjs')],
        env: { MARKET_API_URL: market.url },
        cwd: installed.folder,
      }),
    )
    try {
      const { tools } = await client.listTools()
      expect(tools.length).toBeGreaterThan(10)
      const called = await client.callTool({ name: 'market_list_models', arguments: {} })
      expect(called).not.toMatchObject({ isError: true })
    } finally {
      await client.close()
    }
  },
)
