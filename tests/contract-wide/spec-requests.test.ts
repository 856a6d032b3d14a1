import { operations } from '@market/contract/operations'
import { openApi } from '@market/http/openapi'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { endpointsIn, specEndpoints, TEXT } from './spec-names.ts'
import { CATEGORIES, DELIVERABLE_TYPES } from './spec-tables.ts'

/** `/api/openapi.json` accepts the requests of the specification: what it stars is enough, and everything it names is declared. */

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required?: boolean
  readonly schema: object
}
interface Described {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: { readonly 'application/json'?: { readonly schema: object } }
  }
}

const document = openApi('https://market.test') as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}
const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: true })
addFormats.default(ajv)
ajv.addSchema(document as unknown as AnySchema, 'openapi')
const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

interface Sent {
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
}

/** What the document says against a request. */
function problemsOf(method: string, path: string, { query = {}, headers = {}, body }: Sent): string[] {
  const key = method.toLowerCase()
  const described = document.paths[path]?.[key]
  if (described === undefined) return ['the operation is missing']
  const { parameters = [], requestBody } = described
  const found: string[] = []
  const given = { query, header: headers }
  for (const kind of ['query', 'header'] as const) {
    const declared = parameters.filter((one) => one.in === kind)
    for (const [name, value] of Object.entries(given[kind])) {
      const at = parameters.findIndex((one) => one.in === kind && one.name === name)
      if (at < 0) found.push(`${kind} ${name} is not declared`)
      else if (
        !ajv.validate({ $ref: `openapi#/paths/${escaped(path)}/${key}/parameters/${at}/schema` }, value)
      )
        found.push(`${kind} ${name}: ${ajv.errorsText()}`)
    }
    for (const { name, required } of declared)
      if (required === true && !(name in given[kind])) found.push(`${kind} ${name} is required`)
  }
  if (body === undefined) return requestBody?.required === true ? [...found, 'a body is required'] : found
  if (requestBody?.content['application/json'] === undefined) return [...found, 'no body is declared']
  const pointer = ['paths', path, key, 'requestBody', 'content', 'application/json', 'schema']
    .map(escaped)
    .join('/')
  // A copy, because values are coerced.
  if (!ajv.validate({ $ref: `openapi#/${pointer}` }, structuredClone(body))) found.push(ajv.errorsText())
  return found
}

const SOLANA = 'So11111111111111111111111111111111111111112'
const HASH = `0x${'a'.repeat(64)}`
const SIGNED = { wallet: SOLANA, wallet_sig: '5'.repeat(88), wallet_sig_ts: 1_700_000_000_000 }
const SERVICE = 'svc_1700000000000_00000000000000000'
const AGENT = 'agt_1700000000000_00000000000000000'
const CLAIM = 'bcl_1700000000000_00000000000000000'
const URL_ = 'https://agent.example/in'
const named = { name: 'A name', description: 'Draws blue squares.' }
const paid = { 'X-PAYMENT': HASH, 'X-Payment-Network': 'alt-mainnet' }
const bounty = {
  ...{ title: 'A blue square', brief: 'Draw a blue square.', category: 'image_gen', budget_usd: 1 },
  ...{ deadline_hours: 24, client_wallet: SOLANA },
}
const token = {
  ...{ token_mint: SOLANA, token_name: 'A Token', token_symbol: 'TOK', token_mode: 'pumpfun' },
  ...{ token_creator_wallet: SOLANA },
}

/** Each with what is starred, and with everything that the text names. A field that it does not show is not sent. */
const REQUESTS: readonly (readonly [endpoint: string, ...requests: Sent[]])[] = [
  ['POST /api/auth/user', {}, { body: { idp_access_token: 'a.b.c' } }],
  [
    'GET /api/agents',
    {},
    { query: { wallet: SOLANA, wallet_sig: SIGNED.wallet_sig, wallet_sig_ts: '1700000000000' } },
  ],
  [
    'POST /api/agents/register',
    { body: named },
    {
      body: {
        ...{
          ...named,
          capabilities: CATEGORIES,
          endpoint_url: URL_,
          avatar_url: URL_,
          ai_models: ['a-model'],
        },
        ...{ owner_wallet: SOLANA, ...SIGNED, wallet_chain: 'solana', pay_to_register: true },
      },
    },
    { body: named, query: { pay: 'x402' } },
    { body: named, headers: paid },
  ],
  ['POST /api/agents/recover', { body: SIGNED }, { body: { idp_access_token: 'a.b.c' } }],
  ['GET /api/agents/me', {}],
  ['PATCH /api/agents/me', { body: { endpoint_url: URL_ } }],
  ['GET /api/agents/{agent_id}/funding', {}],
  [
    'POST /api/agents/{agent_id}/token/launch',
    { body: { symbol: 'TOK' } },
    { body: { symbol: 'T', description: 'A token of twenty characters.', image_url: URL_ } },
  ],
  [
    'POST /api/agents/{agent_id}/token',
    { body: { ...SIGNED, ...token } },
    { body: { ...SIGNED, ...token, token_image_url: URL_, token_tx_hash: '5'.repeat(88) } },
  ],
  ['POST /api/agents/{agent_id}/said', {}],
  ['GET /api/agents/{agent_id}/orders', {}, { query: { status: 'paid,delivered' } }],
  [
    'POST /api/orders',
    { body: { service_id: SERVICE } },
    { body: { service_id: SERVICE, brief: 'Draw a blue square.', ...SIGNED, wallet_chain: 'solana' } },
    { body: { service_id: SERVICE, brief: 'Draw a blue square.' }, headers: paid },
  ],
  ['GET /api/orders/{order_id}', {}],
  [
    'PATCH /api/orders/{order_id}',
    { body: { action: 'pay', escrow_tx_hash: HASH, ...SIGNED } },
    ...['approve', 'cancel', 'revision', 'dispute'].map((action) => ({
      body: {
        action,
        ...(action === 'revision' && { feedback: 'More blue' }),
        ...(action === 'dispute' && { reason: 'Not blue' }),
      },
    })),
  ],
  [
    'POST /api/orders/{order_id}/deliver',
    { body: { deliverable_url: URL_ } },
    { body: { deliverables: DELIVERABLE_TYPES.map((type) => ({ type, url: URL_ })) } },
  ],
  [
    'POST /api/bounties',
    { body: bounty },
    {
      body: { ...bounty, claim_window_hours: 6, reference_urls: [URL_], reference_images: [URL_] },
    },
  ],
  ['POST /api/bounties/{bounty_id}/claim', {}],
  ['GET /api/bounties/{bounty_id}', {}, { query: { include_claims: '1' } }],
  ['GET /api/bounties/my', {}],
  [
    'POST /api/bounties/{bounty_id}/accept',
    { body: { claim_id: CLAIM, client_wallet: SOLANA, escrow_tx_hash: HASH } },
  ],
  ['POST /api/earn/pool/deposit', { body: { amount_usd: 100, incoming_tx_hash: HASH } }],
  ['GET /api/earn/pool/positions', {}],
  ['GET /api/earn/pool/markets', {}],
  ['GET /api/earn/pool/pools', {}],
  ['POST /api/earn/pool/withdraw', { body: { shares: '1.5' } }, { body: { all: true } }],
  ['GET /api/x402/services', {}],
  ['GET /api/x402/trending', {}],
  ['GET /api/x402/directory', {}],
  ['GET /api/x402/discover', { query: { service_id: SERVICE } }],
  [
    'GET /api/x402/discover/{service_id}',
    {},
    { query: { brief: 'Do it.' }, headers: paid },
    { headers: { ...paid, 'X-Market-Brief': 'Do it.' } },
  ],
  [
    'POST /api/x402/pay',
    { query: { service_id: SERVICE }, body: { brief: 'Do it.' } },
    { query: { service_id: SERVICE }, body: { brief: 'Do it.' }, headers: paid },
  ],
]

test.each(REQUESTS.map(([endpoint, ...requests]) => ({ endpoint, requests })))(
  '$endpoint: the requests of the specification are valid',
  ({ endpoint, requests }) => {
    const [method = '', path = ''] = endpoint.split(' ')
    expect(
      requests.flatMap((sent, n) => problemsOf(method, path, sent).map((why) => `${n + 1}: ${why}`)),
    ).toEqual([])
  },
)

/** Their bodies are "not shown", or they have a document of their own. */
const NOT_SHOWN = [
  'GET /.well-known/x402',
  'GET /openapi.json',
  'POST /api/agents/{}/services',
  'POST /api/market',
  'POST /api/orders/{}/generate',
  'POST /api/orders/{}/messages',
  'POST /api/orders/{}/quote',
  'POST /api/upload',
  'POST /api/x402/mcp',
  'PUT /api/profile',
]

test('every endpoint whose request the specification shows is among them', () => {
  const sent = REQUESTS.map(([endpoint]) => endpoint.replace(/\{\w+\}/g, '{}'))
  expect(specEndpoints().filter((one) => !sent.includes(one))).toEqual(NOT_SHOWN)
  expect(endpointsIn(TEXT).length).toBeGreaterThan(0)
})

test('a launch may have a description of several lines, and a page of a portfolio or of reviews 100 entries', () => {
  const description = 'A token of twenty characters.\nIt has two lines.'
  expect(
    operations.launchToken.input.safeParse({ agent_id: AGENT, symbol: 'TOK', description }).success,
  ).toBe(true)
  for (const { input } of [operations.listPortfolio, operations.listReviews]) {
    expect(input.safeParse({ agent_id: AGENT, limit: 100 }).success).toBe(true)
    expect(input.safeParse({ agent_id: AGENT, limit: 101 }).success).toBe(false)
  }
})
