import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { redactLine } from './redact.ts'

function capture() {
  const lines: string[] = []
  const logger = createLogger({
    level: 'info',
    name: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const only = (): string => {
    expect(lines).toHaveLength(1)
    return lines[0] ?? ''
  }
  return { logger, lines, only }
}

const HEX_64 = randomBytes(32).toString('hex')
const HEX_130 = randomBytes(65).toString('hex')
const BASE58_88 = '5'.repeat(44) + 'xyzABC123'.repeat(5).slice(0, 44)
const BASE64_64 = randomBytes(64).toString('base64')
const JWT = `eyJhbGciOiJFUzI1NiJ9.${randomBytes(30).toString('base64url')}.${randomBytes(64).toString('base64url')}`
const CANARY = 'CanaryValue42'

const SECRET_VALUES: readonly (readonly [string, string, string?])[] = [
  ['an API key', `market_${CANARY}abcdef`, CANARY],
  ['an API key glued to a word', `KEY_market_${CANARY}abcdef`, CANARY],
  ['a webhook secret', `whsec_${CANARY}abcdef`, CANARY],
  ['an admin key', `adm_${CANARY}abcdef`, CANARY],
  ['a JWT', JWT],
  ['a JWT without signature', JWT.split('.').slice(0, 2).join('.')],
  ['a bearer header', `Bearer ${CANARY}`, CANARY],
  ['a bearer header in lower case', `authorization: bearer ${CANARY}`, CANARY],
  ['a basic header', `Basic ${CANARY}==`, CANARY],
  ['an EVM signature', `0x${HEX_130}`, HEX_130],
  ['a longer contract signature', `0x${HEX_130}${HEX_130}`, HEX_130],
  ['a private key in hex', HEX_64],
  ['a private key with 0x', `0x${HEX_64}`, HEX_64],
  ['a private key in capitals', HEX_64.toUpperCase()],
  ['a Solana key or signature', BASE58_88],
  ['a signature in base64', BASE64_64],
  ['a PEM key', `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----`, CANARY],
  ['a PEM key cut off', `-----BEGIN EC PRIVATE KEY-----\n${CANARY}`, CANARY],
  ['a query of an address', `https://x.example/a?wallet_sig=${CANARY}`, CANARY],
  ['a query of a path', `/api/orders?foo=${CANARY}&bar=1`, CANARY],
  ['a password in an address', `postgres://user:${CANARY}@db.example/x`, CANARY],
  ['a cookie', `idp-token=${CANARY}; Path=/`, CANARY],
  ['JSON inside a text', JSON.stringify({ api_key: CANARY }), CANARY],
  ['a form inside a text', `client_secret=${CANARY}&x=1`, CANARY],
]

describe('secrets are redacted at any position', () => {
  test.each(SECRET_VALUES)('%s', (_name, text, secret = text) => {
    const ways: readonly ((logger: ReturnType<typeof capture>['logger']) => void)[] = [
      (logger) => logger.info(text),
      (logger) => logger.info('before %s after', text),
      (logger) => logger.info({ note: text }, 'm'),
      (logger) => logger.info({ a: { b: [{ c: { d: { e: { f: { g: text } } } } }] } }, 'm'),
      (logger) => logger.info({ list: ['x', text] }, 'm'),
      (logger) => logger.error(new Error(`it failed: ${text}`)),
      (logger) => logger.error({ err: new Error('outer', { cause: new Error(text) }) }, 'm'),
      (logger) => logger.error({ err: Object.assign(new Error('m'), { request: { headers: [text] } }) }, 'm'),
      (logger) => logger.child({ bound: text }).info('m'),
      (logger) => logger.info({ [`${text}`]: 'as a key' }, 'm'),
    ]
    for (const [index, way] of ways.entries()) {
      const { logger, only } = capture()
      way(logger)
      expect(only(), `way ${index}`).not.toContain(secret)
      expect(() => JSON.parse(only())).not.toThrow()
    }
  })
})

test.each([
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'X-Market-Wallet-Sig',
  'wallet_sig',
  'signature',
  'x-payment',
  'PAYMENT-SIGNATURE',
  'api_key',
  'apiKey',
  'x-api-key',
  'webhook_secret',
  'client_secret',
  'password',
  'access_token',
  'refreshToken',
  'idp-token',
  'token',
  'privateKey',
  'secret_key',
  'mnemonic',
  'seed',
  'pepper',
  'email',
  'body',
])('the field %s is not written at any depth, for any value', (field) => {
  for (const value of ['plain-canary', { deep: 'plain-canary' }, ['plain-canary'], 4242424242]) {
    for (const wrapped of [{ [field]: value }, { a: { b: [{ c: { [field]: value } }] } }]) {
      const { logger, only } = capture()
      logger.info(wrapped, 'm')
      expect(only()).not.toMatch(/plain-canary|4242424242/)
    }
  }
})

test('raw key bytes are not written', () => {
  const seed = randomBytes(32)
  const { logger, only } = capture()
  logger.info({ a: [...seed], b: seed, c: { d: new Uint8Array(seed) } }, 'm')
  expect(only()).not.toContain(String([...seed].slice(0, 4)))
  expect(only()).not.toContain(`"0":${seed[0]},"1":${seed[1]}`)
})

test('keeps the fields that operators need', () => {
  const { logger, only } = capture()
  const useful = {
    request_id: 'req_1',
    url: '/api/orders/ord_1700000000000_0abc',
    tx_hash: `0x${HEX_64}`,
    sha256: HEX_64,
    tx_signature: BASE58_88,
    wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
    solana: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    trace_id: randomBytes(16).toString('hex'),
    token_mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    status: 200,
    market_fee_micros: 5,
    metric: 'market_orders_total',
    agent_market: 'agent-market',
    question: 'why? because',
    ok: true,
    nothing: null,
  }
  logger.info({ ...useful, url: `${useful.url}?x=1` }, 'paid in full')
  const written = JSON.parse(only()) as Record<string, unknown>
  expect(written).toMatchObject({ ...useful, name: 'test', level: 'info', msg: 'paid in full' })
  expect(written['time']).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('keeps every digit of large amounts, also next to a secret', () => {
  const { logger, only } = capture()
  logger.info({ wei: 123456789012345678901234567890n, email: 'a@b.c' }, 'm')
  expect(only()).toContain('123456789012345678901234567890')
})

test('writes one line per event for any text', () => {
  const { logger, lines } = capture()
  const forged = 'ok\r\n{"level":"info","msg":"forged"}\u2028\u0085\n'
  logger.info(forged)
  logger.info({ [forged]: forged, email: 'a@b.c' }, forged)
  logger.child({ user: forged }).error(new Error(forged))
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(line.trimEnd().split(/[\r\n]/)).toHaveLength(1)
    expect(line.endsWith('\n')).toBe(true)
    expect(() => JSON.parse(line)).not.toThrow()
  }
})

test('respects the log level', () => {
  const { logger, lines } = capture()
  logger.debug('not this')
  logger.warn('this')
  expect(lines).toHaveLength(1)
})

test('redacts a long crafted text in bounded time', () => {
  const { logger, lines } = capture()
  const hostile = [
    '/',
    '//',
    '?/',
    'a-',
    'eyJaaaa-',
    'token ',
    'token=',
    '-----BEGIN PRIVATE KEY-----',
    '0',
    '@',
    '"',
  ]
  const began = performance.now()
  for (const piece of hostile) logger.info({ text: piece.repeat(100_000), email: 'x' }, 'm')
  expect(lines).toHaveLength(hostile.length)
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('drops a line that is not JSON', () => {
  expect(redactLine('{"token":"abc"')).toBe(
    '{"level":"error","msg":"a log line was dropped because it is not JSON"}\n',
  )
})

test('a run of 64 or more key characters is redacted at any position of the line', () => {
  const separated = fc.string({ maxLength: 200 }).map((text) => text.replace(/[0-9a-z+/_-]{8}/gi, ' '))
  const run = fc.integer({ min: 64, max: 200 }).map((length) => 'a1'.repeat(length / 2).padEnd(length, 'f'))
  fc.assert(
    fc.property(separated, run, separated, (before, secret, after) => {
      const line = JSON.stringify({ msg: `${before} ${secret} ${after}` })
      expect(redactLine(line)).not.toContain(secret)
    }),
    { numRuns: 500 },
  )
})

test('a line that is not parsed has nothing to remove', () => {
  const name = fc.constantFrom(
    'api_key',
    'token',
    'Cookie',
    'body',
    'sig-',
    'private key',
    'seed phrase',
    'a',
  )
  const mark = fc.constantFrom('"', '\\', '=', ':', ' ', '\n', ',', '}', ']', '{', "'", 'x1', '\\"', '')
  const text = fc.array(fc.oneof(name, mark), { maxLength: 8 }).map((parts) => parts.join(''))
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.dictionary(text, text, { maxKeys: 3 }))
  fc.assert(
    fc.property(fc.dictionary(text, value, { maxKeys: 4 }), (fields) => {
      // `@` makes every line one that is parsed.
      const { parsed: _, ...all } = JSON.parse(redactLine(JSON.stringify({ ...fields, parsed: '@' })))
      expect(JSON.parse(redactLine(JSON.stringify(fields)))).toEqual(all)
    }),
    { numRuns: 2_000 },
  )
})
