import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MarketError } from '@market/sdk'
import { afterAll, describe, expect, test } from 'vitest'
import { COMMANDS } from './commands.ts'
import { describeError } from './describe-error.ts'
import { NEXT, nextCommand } from './error-hints.ts'
import { parseArguments } from './parse-arguments.ts'
import { withProvider } from './settings/discover-login.ts'
import { checkClock, checkNode } from './subcommands/doctor.ts'
import { signingSecret, webhookOf } from './subcommands/events.ts'
import { payingNote } from './subcommands/hire.ts'
import { runProgram } from './test-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'cli-unit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const market = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') =>
  runProgram(args, { XDG_CONFIG_HOME: folder, ...environment }, { input })

describe('arguments', () => {
  test.each([
    [['ordrs'], /Unknown command: market ordrs\. Did you mean market orders\?/],
    [['orders', 'aprove', 'ord_1'], /Did you mean market orders approve\?/],
    [['solvency'], /needs another word: verify/],
    [['orders', '--stauts', 'paid'], /Unknown option: --stauts\. Did you mean --status\?/],
    [['orders', 'show'], /<order> is missing\. Write: market orders show <order>/],
    [['deliver', 'ord_1', '--text'], /--text needs a value/],
    [['deliver', 'ord_1', '--text', '--note', 'x'], /--text needs a value\. Write --text=<text>/],
    [['services', '--all=yes'], /--all takes no value/],
    [['orders', '--as', 'admin'], /Write --as agent or --as user/],
    [['events', 'listen', '--role', 'buyer', '--forward-to', 'http://localhost:1'], /cannot be forwarded/],
    [['events', 'listen', '--forward-to', 'http://other.example/'], /must begin with https/],
    [['hire', 'svc_1', '--brief', 'x'], /--max-usd is missing/],
    [['hire', 'svc_1', '--brief', 'x', '--max-usd', 'five'], /--max-usd is five/],
    [['config', 'set', 'api_ulr', 'x'], /Did you mean api_url\?/],
    [['config', 'set', 'api_url', 'http://api.example'], /must begin with https/],
    [['events', 'listen', '--secret', 'x'], /Unknown option: --secret/],
    [['solvency', 'verify', '--rpc', 'base'], /Write --rpc base-mainnet=/],
  ])('%j ends with 2 and a sentence, and prints nothing on stdout', async (args, sentence) => {
    const { status, out, error } = await market(args, { MARKET_API_URL: 'http://127.0.0.1:4000' })
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(error).toMatch(sentence)
  })

  test('global options may stand before the command and after it', () => {
    const before = parseArguments(['--json', '--profile', 'dev', 'orders', 'show', 'ord_1'], COMMANDS)
    const after = parseArguments(['orders', 'show', 'ord_1', '--profile=dev', '--json'], COMMANDS)
    for (const { command, globals, call } of [before, after]) {
      expect(command?.name).toBe('orders show')
      expect(globals).toMatchObject({ json: true, profile: 'dev' })
      expect(call.parameters).toEqual(['ord_1'])
    }
  })

  test('a value that begins with a dash is written with =, and -- ends the options', () => {
    const { call } = parseArguments(['deliver', 'ord_1', '--text=-5 degrees'], COMMANDS)
    expect(call.values).toMatchObject({ text: ['-5 degrees'] })
    expect(parseArguments(['orders', 'show', '--', '-x'], COMMANDS).call.parameters).toEqual(['-x'])
  })

  test('every command has a help, and options whose names are not global ones', async () => {
    for (const { name, options = {} } of COMMANDS) {
      expect(
        Object.keys(options).filter((option) => ['json', 'profile', 'as', 'help'].includes(option)),
      ).toEqual([])
      const { status, out } = await market([...name.split(' '), '--help'])
      expect({ status, starts: out.startsWith(`market ${name}`) }).toEqual({ status: 0, starts: true })
    }
    expect((await market(['events', '--help'])).out).toContain('events listen')
    expect(await market(['help', 'hire'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('--max-usd'),
    })
  })
})

test('help: the usage of a command has its required options, without which it ends with 2', async () => {
  for (const { name, parameters = [], options = {} } of COMMANDS) {
    const required = Object.keys(options).filter((option) => options[option]?.required)
    const { out } = await market([...name.split(' '), '--help'])
    const [usage = ''] = out.split('\n')
    expect(required.filter((option) => !usage.includes(` --${option} <`))).toEqual([])
    for (const missing of required) {
      const others = required.filter((option) => option !== missing).flatMap((option) => [`--${option}`, 'x'])
      const { status, error } = await market([...name.split(' '), ...parameters, ...others])
      expect({ status, error }).toEqual({
        status: 2,
        error: expect.stringContaining(`--${missing} is missing.`),
      })
    }
  }
})

describe('settings', () => {
  test('are stored per profile in a file of mode 0600, and shown without secrets', async () => {
    expect(
      await market(['config', 'set', 'api_url', 'http://localhost:4000/', '--profile', 'dev']),
    ).toMatchObject({
      status: 0,
      out: expect.stringContaining('api_url of profile dev is http://localhost:4000'),
    })
    expect(statSync(join(folder, 'agent-market', 'cli.json')).mode & 0o777).toBe(0o600)
    await market(['config', 'use', 'dev'])
    const { out } = await market(['config', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      profile: 'dev',
      profiles: { dev: { api_url: 'http://localhost:4000' } },
    })
    expect(await market(['config', 'use', 'dve'])).toMatchObject({
      status: 2,
      error: expect.stringContaining('Did you mean dev?'),
    })
  })

  test('an API key is read from stdin, and rejected without showing it', async () => {
    const { status, error } = await market(['login', '--api-key'], {}, 'sk_secret\n')
    expect(status).toBe(2)
    expect(error).toContain('begins with market_')
    expect(error).not.toContain('secret')
    const bad = await market(['payouts'], { MARKET_API_KEY: 'sk_secret' })
    expect(bad).toMatchObject({ status: 2, error: expect.stringContaining('MARKET_API_KEY must be') })
    expect(bad.error).not.toContain('secret')
  })

  test('a private key that is malformed is never part of the message', async () => {
    const hire = ['hire', 'svc_1', '--brief', 'x', '--max-usd', '1']
    const { status, error } = await market(hire, { MARKET_WALLET_KEY: '0xdeadbeef' })
    expect(status).toBe(2)
    expect(error).toContain('MARKET_WALLET_KEY')
    expect(error).not.toContain('deadbeef')
  })
})

describe('errors', () => {
  test.each([
    ['order_not_found', 404, 'market orders'],
    ['bad_api_key', 401, 'market login --api-key'],
    ['some_new_code', 401, 'market login'],
    ['some_new_code', 503, 'market doctor'],
    ['some_new_code', 409, undefined],
    ['constructor', 400, undefined],
  ])('after %s with %d the next command is %s', (code, status, next) => {
    expect(nextCommand(code, status)).toBe(next)
  })

  test.each(Object.entries(NEXT))('the next command after %s is one of this program', (_, next) => {
    const [program, ...words] = next.split(' ')
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
    const name = (end < 0 ? words : words.slice(0, end)).join(' ')
    expect(program).toBe('market')
    const command = COMMANDS.find((one) => one.name === name)
    expect(command, next).toBeDefined()
    const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
    expect(Object.keys(command?.options ?? {})).toEqual(expect.arrayContaining(options))
  })

  test('--json describes an error of the API with its code, status and request', () => {
    const error = new MarketError('No such order', {
      status: 404,
      code: 'order_not_found',
      requestId: 'req_1',
    })
    expect(describeError(error)).toMatchObject({
      code: 'order_not_found',
      status: 404,
      request_id: 'req_1',
      next: 'market orders',
    })
  })
})

test('a message of the SDK names the options of this program', () => {
  const error = new MarketError('It costs 5.50, maxUsd is 5.00. Check apiUrl.', {
    status: 402,
    code: 'price_above_max',
  })
  expect(describeError(error).message).toBe('It costs 5.50, --max-usd is 5.00. Check the API URL.')
})

test('doctor: an old Node fails, a clock that differs warns or fails', () => {
  expect([checkNode('18.20.0').result, checkNode('20.0.0').result]).toEqual(['FAILED', 'ok'])
  const date = 'Wed, 18 Nov 2026 05:00:00 GMT'
  const at = Date.parse(date)
  expect([0, 60_000, -300_000].map((ms) => checkClock(date, at + ms).result)).toEqual([
    'ok',
    'warning',
    'FAILED',
  ])
  expect(checkClock(null, at).result).toBe('skipped')
})

test('events listen: a forwarded event has the signature of a webhook, and the same id each time', () => {
  const event = {
    cursor: '42',
    event: 'order.paid',
    order_id: 'ord_1',
    data: { status: 'paid' },
    created_at: '',
  }
  const signing = { agentId: 'agt_1', secret: 'whsec_test' }
  const { body, headers } = webhookOf(event, signing, new Date(1_794_784_877_443))
  expect(body).toBe('{"event":"order.paid","order_id":"ord_1","data":{"status":"paid"}}')
  expect(headers['X-Market-Signature']).toMatch(/^t=1794784877,v1=[0-9a-f]{64}$/)
  expect(headers['X-Market-Delivery-Id']).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  expect(webhookOf(event, signing, new Date()).headers['X-Market-Delivery-Id']).toBe(
    headers['X-Market-Delivery-Id'],
  )
})

test('hire: the note before the payment has the key that continues it', () => {
  const note = payingNote({ amountUsd: '5.50', network: 'base-mainnet', idempotencyKey: 'key-1' })
  expect(note).toContain('--idempotency-key key-1')
})

test('events listen: MARKET_WEBHOOK_SECRET signs and is not shown, a generated secret is shown', () => {
  const { secret, shown } = signingSecret({ MARKET_WEBHOOK_SECRET: 'whsec_mine' })
  expect([secret, shown.includes('whsec_mine')]).toEqual(['whsec_mine', false])
  const generated = signingSecret({})
  expect(generated.shown).toBe(generated.secret)
})

test('login: the identity provider of the profile is not used for another API', async () => {
  for (const [name, value] of [
    ['api_url', 'http://localhost:4000'],
    ['issuer', 'http://localhost:1'],
    ['client_id', 'cli'],
  ] as const)
    expect((await market(['config', 'set', name, value, '--profile', 'bound'])).status).toBe(0)
  const other = { MARKET_API_URL: 'http://127.0.0.1:2' }
  expect(await market(['login', '--profile', 'bound'], other)).toMatchObject({
    status: 1,
    error: expect.stringContaining('http://127.0.0.1:2'),
  })
})

describe('login: what the API publishes', () => {
  const PROVIDER = {
    issuer: 'https://login.example',
    audience: 'https://api.example/api',
    client_ids: { web: null, cli: 'market-cli' },
    scopes: ['openid', 'profile'],
  }
  const API = 'https://api.example'

  test('is used where the user gave nothing, and options replace it', () => {
    expect(withProvider(API, {}, PROVIDER)).toEqual({
      issuer: 'https://login.example',
      client_id: 'market-cli',
      audience: 'https://api.example/api',
      scopes: 'openid profile',
    })
    expect(withProvider(API, { client_id: 'own', scopes: 'openid' }, PROVIDER)).toMatchObject({
      issuer: 'https://login.example',
      client_id: 'own',
      scopes: 'openid',
    })
  })

  test('has no client: the sentence says so', () => {
    const none = { ...PROVIDER, client_ids: { web: null, cli: null } }
    expect(() => withProvider(API, {}, none)).toThrow('https://api.example publishes no client')
    expect(() => withProvider(API, { issuer: 'https://other.example' }, PROVIDER)).toThrow(
      'https://other.example is not the identity provider of https://api.example',
    )
  })

  test('names the audience of another site: the user must name it too', () => {
    const other = { ...PROVIDER, audience: 'https://bank.example/api' }
    expect(() => withProvider(API, {}, other)).toThrow('which is another site')
    expect(withProvider(API, { audience: 'https://bank.example/api' }, other)).toMatchObject({
      audience: 'https://bank.example/api',
    })
    expect(withProvider(API, {}, { ...PROVIDER, audience: 'market-api' })).toMatchObject({
      audience: 'market-api',
    })
    expect(withProvider('http://127.0.0.1:4000', {}, other)).toMatchObject({ client_id: 'market-cli' })
  })
})

test('README: lists every error code of this program', () => {
  const source = new URL('.', import.meta.url)
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const codes = files.flatMap((file) =>
    [...readFileSync(new URL(file, source), 'utf8').matchAll(/new CommandError\(\s*'(\w+)'/g)].map(
      ([, code]) => code,
    ),
  )
  const readme = readFileSync(new URL('../README.md', source), 'utf8')
  expect(codes).toContain('no_api_key')
  for (const code of [...codes, 'usage', 'failed']) expect(readme).toContain(`| \`${code}\` |`)
})
