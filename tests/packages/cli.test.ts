import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeService } from '../support/services.ts'
import { findNode20, installClient, run } from './install.ts'

/** The terminal program as users install it. */

const start = async (): Promise<Market> =>
  (await startMarket({}, { chains: ['base-mainnet'], gas: true })) as unknown as Market

let market: Market
let installed: Awaited<ReturnType<typeof installClient>>
beforeAll(async () => {
  ;[market, installed] = await Promise.all([start(), installClient('cli')])
})
afterAll(async () => {
  await installed?.remove()
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

test('in an empty folder: bash completes a command, any operation can be called, and an empty wallet is told what to send', async () => {
  const settings = join(installed.folder, 'settings')
  mkdirSync(settings)
  const key = generatePrivateKey()
  const env = {
    PATH: [join(installed.folder, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH']].join(
      ':',
    ),
    MARKET_API_URL: market.url,
    MARKET_WALLET_KEY: key,
    XDG_CONFIG_HOME: settings,
  }
  const bash = (script: string) =>
    run('bash', ['--norc', '-c', script], { cwd: installed.folder, env }).catch((error) => error)

  const completed = await bash(
    `source <(market completion bash); COMP_WORDS=(market orders app); COMP_CWORD=2; _market; echo "\${COMPREPLY[@]}"`,
  )
  expect(completed).toMatchObject({ stdout: 'approve\n', stderr: '' })
  const called = await bash('market call browseServices limit=1 --json')
  expect(JSON.parse(called.stdout)).toMatchObject({ data: [] })

  const { id } = await makeService(market, await makeOwnedAgent(market), { price_usd: '5.00' })
  const hired = await bash(`market hire ${id} --brief 'Count the words of this text.' --max-usd 5.50`)
  expect(hired).toMatchObject({ code: 1, stdout: '' })
  const wallet = privateKeyToAddress(key).toLowerCase()
  expect(hired.stderr).toContain(
    `${wallet} holds 0.00 USDC on base-mainnet, and 5.50 USDC is due. Send 5.50 USDC to it, then pay again.`,
  )
})
