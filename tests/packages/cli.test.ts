import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Market, startMarket } from '../support/market.ts'
import { findNode20, installClient, run } from './install.ts'

/** The terminal program as users install it. */

let market: Market
let installed: Awaited<ReturnType<typeof installClient>>
beforeAll(async () => {
  ;[market, installed] = await Promise.all([startMarket(), installClient('cli')])
})
afterAll(async () => {
  installed?.remove()
  await market?.stop()
})

test.each(['Node 20', 'Node 24'])(
  'on %s: the installed program prints its version, checks the API and lists services',
  async (version) => {
    const node = version === 'Node 20' ? await findNode20() : process.execPath
    const settings = join(installed.folder, version)
    mkdirSync(settings)
    const command = join(installed.folder, 'node_modules/.bin/market')
    const program = async (...args: string[]) => {
      const { stdout, stderr } = await run(command, args, {
        cwd: installed.folder,
        env: { PATH: dirname(node), MARKET_API_URL: market.url, XDG_CONFIG_HOME: settings },
      })
      expect(stderr).toBe('')
      return stdout
    }
    expect(await program('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    const { ok, checks } = JSON.parse(await program('doctor', '--json'))
    expect(ok).toBe(true)
    expect(checks).toContainEqual(expect.objectContaining({ check: 'api', result: 'ok' }))
    expect(JSON.parse(await program('services', '--json'))).toEqual({ data: [], next_cursor: null })
    const hire = ['hire', 'svc_1', '--brief', 'x', '--max-usd', '1']
    const env = {
      PATH: dirname(node),
      MARKET_API_URL: market.url,
      XDG_CONFIG_HOME: settings,
      MARKET_WALLET_KEY: '1'.repeat(64),
    }
    const failed = run(command, hire, { env })
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('service_not_found'),
    })
  },
)
