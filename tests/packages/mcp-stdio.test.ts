import { join } from 'node:path'
import { Market as SdkMarket } from '@market/sdk'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'
import { findNode20, installClient } from './install.ts'

/** The program for MCP clients as users install it, and what a client learns that is too old. */

let market: Market
let installed: Awaited<ReturnType<typeof installClient>>
beforeAll(async () => {
  ;[market, installed] = await Promise.all([startMarket(), installClient('mcp-stdio')])
})
afterAll(async () => {
  await installed?.remove()
  await market?.stop()
})

/** How a client starts it: as it was installed, or by its address alone. */
const WAYS = {
  'installed, on Node 20': async () => ({
    command: await findNode20(),
    args: [join(installed.package, 'bin/mcp-stdio.mjs')],
  }),
  'installed, on Node 24': async () => ({
    command: process.execPath,
    args: [join(installed.package, 'bin/mcp-stdio.mjs')],
  }),
  'by npx and the address of the marketplace': async () => ({
    command: 'npx',
    args: ['-y', installed.url],
    env: {
      PATH: process.env['PATH'] ?? '',
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_cache: join(installed.folder, 'npm'),
    },
  }),
}

test.each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
  '%s: the program lists its tools and calls one',
  async (way) => {
    const started: { command: string; args: string[]; env?: Record<string, string> } = await WAYS[way]()
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(
      new StdioClientTransport({
        ...started,
        env: { ...started.env, MARKET_API_URL: market.url },
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

test('a client that is too old is told once which version the API supports; a newer one and another program are not', async () => {
  const told: string[] = []
  const onOutdated = (message: string) => void told.push(message)
  for (const client of ['cli/0.0.9', 'cli/0.1.0', 'sdk/99.0.0', 'another/0.0.1']) {
    const sdk = new SdkMarket({ apiUrl: market.url, client, onOutdated })
    // What caches keep says nothing about one client.
    await sdk.listModels()
    for (const _ of [1, 2]) await sdk.getAuthMessage({ wallet: `0x${'1'.repeat(40)}`, purpose: 'session' })
  }
  expect(told).toEqual([
    `This is cli/0.0.9 of Agent Market, and ${market.url} supports 0.1.0 and later. Install ${market.url}/packages/cli.tgz with npm.`,
  ])
})
