import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMANDS } from './commands.ts'
import { runProgram } from './test-program.ts'

/** Nothing listens here: every connection is refused. */
const AWAY = 'http://127.0.0.1:2'

const folder = mkdtempSync(join(tmpdir(), 'cli-unreachable-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'text.txt')
writeFileSync(file, 'text')

/** What a command needs beside its parameters. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  login: ['--issuer', AWAY, '--client-id', 'cli'],
  register: ['--name', 'Counter', '--description', 'Counts words.'],
  'agent update': ['--name', 'Counter'],
  'services create': ['--title', 'Words', '--description', 'Counts words.', '--price', '5.00'],
  hire: ['--brief', 'Count this.', '--max-usd', '5.50'],
  pay: ['--tx', `0x${'1'.repeat(64)}`],
  'orders revision': ['--feedback', 'More words.'],
  'orders dispute': ['--reason', 'No words.'],
  'orders quote': ['--price', '5.00'],
  deliver: ['--file', file],
  'wallet withdraw': ['--asset', 'USDC'],
}
const PARAMETERS: Readonly<Record<string, string>> = {
  shell: 'bash',
  file,
  'operation?': 'listBounties',
  'field=value…': 'limit=5',
  setting: 'api_url',
  value: AWAY,
  profile: 'default',
}
/** They change settings of this machine only. */
const LOCAL = ['completion', 'logout', 'config', 'config set', 'config unset', 'config use']
/** It reports every problem as the result of a check. */
const CHECKS = ['doctor']

const find = (call: string) => COMMANDS.find(({ name }) => call === name || call.startsWith(`${name} --`))

async function callWithJson(call: string) {
  const { name = '', parameters = [] } = find(call) ?? {}
  const environment = {
    XDG_CONFIG_HOME: join(folder, call.replaceAll(' ', '-')),
    MARKET_API_URL: AWAY,
    MARKET_API_KEY: 'market_test_key',
    MARKET_TOKEN: 'token',
    MARKET_WALLET_KEY: '1'.repeat(64),
  }
  if (name === 'config use') await runProgram(['config', 'set', 'api_url', AWAY], environment)
  const words = parameters.map((parameter) => PARAMETERS[parameter] ?? `${parameter}_1`)
  const args = [...call.split(' '), ...words, ...(OPTIONS[call] ?? []), '--json']
  return runProgram(args, environment, { input: 'market_test_key' })
}

const REMOTE = [
  ...COMMANDS.map(({ name }) => name).filter((name) => ![...LOCAL, ...CHECKS].includes(name)),
  'login --api-key',
]

/** All at once: each waits between its tries. */
const outcomes = new Map<string, Awaited<ReturnType<typeof callWithJson>>>()
beforeAll(async () => {
  await Promise.all(REMOTE.map(async (call) => outcomes.set(call, await callWithJson(call))))
})

test.each(REMOTE)(
  '--json without a reachable API: market %s ends with 1 and one JSON document on stderr',
  (call) => {
    const { status, out, error = '' } = outcomes.get(call) ?? {}
    expect({ status, out }).toEqual({ status: 1, out: '' })
    const isOfProvider = call === 'login'
    expect(JSON.parse(error)).toEqual({
      error: {
        code: isOfProvider ? 'login_failed' : 'unreachable',
        message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:2\/? cannot be reached\. Check the .*\.$/),
        next: isOfProvider ? 'market login' : 'market doctor',
        ...(!isOfProvider && { status: 0 }),
      },
    })
    expect(error.trimEnd().split('\n')).toHaveLength(1)
  },
)

test.each(LOCAL)('--json without a reachable API: market %s succeeds', async (name) => {
  const { status, out, error } = await callWithJson(name)
  expect({ status, error }).toEqual({ status: 0, error: '' })
  expect(JSON.parse(out)).toBeTypeOf('object')
})

test('--json without a reachable API: market doctor ends with 1 and reports the failed check on stdout', async () => {
  const { status, out, error } = await callWithJson('doctor')
  expect({ status, error }).toEqual({ status: 1, error: '' })
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    checks: expect.arrayContaining([
      {
        result: 'FAILED',
        check: 'api',
        detail: expect.stringContaining('cannot be reached (ECONNREFUSED)'),
        next: 'market config',
      },
    ]),
  })
})
