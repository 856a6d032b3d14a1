import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '@market/contract/error-codes'
import { LIMITS } from '@market/contract/limits'
import { findTool, tools } from '@market/contract/tools'
import { limit } from '@market/handlers/limit'
import { redisLimiter } from '@market/platform/redis/limiter'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { programFile } from '../../scripts/bundle.ts'
import { insertToken, linkX, PAYEE, startWalletMarket, type WalletMarket } from '../support/agent-wallets.ts'
import { makeBounty, makeClaim } from '../support/bounties.ts'
import { currentBundle } from '../support/bundle.ts'
import { someAddress } from '../support/client.ts'
import { DESCRIPTION, makeAgent, makeOwnedAgent, someName } from '../support/makers.ts'
import { BRIEF } from '../support/orders.ts'
import { makeService } from '../support/services.ts'
import { REDIS_URL } from '../support/settings.ts'
import { everyTool } from './every-tool.ts'
import { CLIENTS, connectSecond, type McpClient, STDIO_CLIENTS, type ToolResult } from './mcp-clients.ts'

/** A result of a tool is an error, or it matches the output schema of the tool: in every rejection that the tool can have. */

type Agent = Awaited<ReturnType<typeof makeOwnedAgent>>
type Fields = Readonly<Record<string, unknown>>

const AVATAR = { avatar_url: 'https://hooks.example/avatar.png' }
const ADDRESS = '198.51.100.9'
const COUNTED_BY_ADDRESS = ['market_register_agent', 'market_register_token']
const TRANSFER = '5VERYLongSignature'.padEnd(88, '1')

let market: WalletMarket
let url: string
let seller: Agent
let buyer: Agent
let ids: Awaited<ReturnType<typeof makeResources>>
const clients = new Map<string, McpClient>()

beforeAll(async () => {
  market = await startWalletMarket()
  url = `${market.url}/mcp`
  seller = await makeOwnedAgent(market)
  buyer = await makeOwnedAgent(market)
  ids = await makeResources()
})
afterAll(async () => {
  for (const client of clients.values()) await client.close()
  await market.stop()
})

/** A client of this key that knows the schemas: the official clients check results only after they listed the tools. */
async function clientOf(apiKey: string): Promise<McpClient> {
  const known = clients.get(apiKey)
  if (known !== undefined) return known
  const client = await connectSecond(url, apiKey, undefined, ADDRESS)
  await listedTools(client)
  clients.set(apiKey, client)
  return client
}

/** Where the address counts, and not the key: a new one for each call. */
async function callerOf(apiKey: string, name: string): Promise<McpClient> {
  if (!COUNTED_BY_ADDRESS.includes(name)) return clientOf(apiKey)
  const client = await connectSecond(url, apiKey, undefined, someAddress())
  clients.set(randomUUID(), client)
  await listedTools(client)
  return client
}

const ajv = new Ajv2020({ strict: false })
const validators = new Map<string, ValidateFunction>()

/** Compiled once: each client gets a copy of the schemas. */
function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, validate)
  return validate
}

async function checked(client: McpClient, name: string, args: Fields): Promise<ToolResult> {
  const result = await client.call(name, args as Record<string, unknown>)
  const listed = (await listedTools(client)).find((tool) => tool.name === name)
  if (result.isError !== true && listed?.outputSchema !== undefined) {
    const validate = validatorOf(listed.outputSchema)
    const isValid = validate(result.structuredContent)
    expect([name, isValid, ajv.errorsText(validate.errors)]).toEqual([name, true, 'No errors'])
  }
  return result
}

interface Listed {
  readonly name: string
  readonly outputSchema?: object
}
const lists = new WeakMap<McpClient, Promise<readonly Listed[]>>()
const listedTools = (client: McpClient): Promise<readonly Listed[]> => {
  const listed = lists.get(client) ?? (client.list() as Promise<readonly Listed[]>)
  lists.set(client, listed)
  return listed
}

const errorOf = (result: ToolResult) => ({
  isError: result.isError,
  ...(result._meta?.['market/error'] as { status: number; code: string } | undefined),
})

async function makeResources() {
  const quoted = await makeService(market, seller, { price_type: 'quote', price_usd: undefined })
  const fixed = await makeService(market, seller)
  const placed = await market
    .client()
    .post('/api/orders', { service_id: quoted.id, brief: BRIEF }, { bearer: buyer.apiKey })
  const bounty = await makeBounty(market)
  const claimed = await makeBounty(market)
  await makeClaim(market, claimed.id, seller)
  const named = { name: someName(), description: DESCRIPTION }
  await market.client().post('/api/agents/register', named)
  const poor = await makeOwnedAgent(market, AVATAR)
  await linkX(market, poor.id)
  const launched = await makeOwnedAgent(market, AVATAR)
  await linkX(market, launched.id)
  const { mint } = await insertToken(market, launched.id)
  await market.db.updateTable('agents').set({ token_mint: mint }).where('id', '=', launched.id).execute()
  const silent = await makeOwnedAgent(market, AVATAR)
  const unowned = await makeAgent(market)
  return {
    ...{ named, poor, launched, silent, unowned, quotedId: quoted.id, fixedId: fixed.id },
    ...{ orderId: placed.body.data.id as string, bountyId: bounty.id, claimedId: claimed.id },
  }
}

type Rejection = readonly [tool: string, code: ErrorCode, by: () => Agent, args: () => Fields]
const bySeller = () => seller
const byBuyer = () => buyer
const order = (more: Fields = {}) => ({ order_id: ids.orderId, ...more })
const work = { deliverables: [{ type: 'text', content: 'It is blue.' }] }
const token = (wallet = PAYEE) => ({
  ...{ agent_id: seller.id, token_mint: PAYEE, token_name: 'A Token', token_symbol: 'TOK' },
  ...{ token_mode: 'pumpfun', token_creator_wallet: wallet },
})
const registration = (more: Fields) => ({ name: someName(), description: DESCRIPTION, ...more })

/** What an agent can be rejected for, beside wrong arguments, a missing credential, an unknown id and a limit. */
const REJECTIONS: readonly Rejection[] = [
  ['market_register_agent', 'duplicate_agent', bySeller, () => ids.named],
  ['market_register_agent', 'name_reserved', bySeller, () => registration({ name: 'Agent Market Support' })],
  ['market_register_agent', 'bad_wallet_fields', bySeller, () => registration({ wallet: PAYEE })],
  [
    ...(['market_register_agent', 'endpoint_not_public', bySeller] as const),
    () => registration({ endpoint_url: 'https://10.0.0.1/in' }),
  ],
  ['market_update_profile', 'name_taken', bySeller, () => ({ name: buyer.name })],
  [
    ...(['market_update_profile', 'endpoint_not_public', bySeller] as const),
    () => ({ endpoint_url: 'https://10.0.0.1/in' }),
  ],
  [
    ...(['market_manage_portfolio', 'portfolio_source_not_found', bySeller] as const),
    () => ({ action: 'hide', source_type: 'order', source_id: ids.orderId }),
  ],
  ['market_update_service', 'not_your_agent', byBuyer, () => ({ service_id: ids.fixedId, title: 'Another' })],
  ['market_delete_service', 'not_your_agent', byBuyer, () => ({ service_id: ids.fixedId })],
  ['market_poll_orders', 'not_your_agent', byBuyer, () => ({ agent_id: seller.id })],
  ['market_quote_order', 'not_your_act', byBuyer, () => order({ price_usd: '5.00' })],
  ['market_deliver_order', 'illegal_transition', bySeller, () => order(work)],
  ['market_approve_order', 'illegal_transition', byBuyer, order],
  ['market_approve_order', 'not_your_act', bySeller, order],
  ['market_request_revision', 'illegal_transition', byBuyer, () => order({ feedback: 'More blue' })],
  ['market_dispute_order', 'illegal_transition', byBuyer, () => order({ reason: 'It is green' })],
  ['market_send_message', 'thread_closed', byBuyer, () => order({ content: 'Please hurry.' })],
  [
    'market_get_bounty',
    'claims_not_found',
    bySeller,
    () => ({ bounty_id: ids.bountyId, include_claims: true }),
  ],
  ['market_claim_bounty', 'already_claimed', bySeller, () => ({ bounty_id: ids.claimedId })],
  [
    'market_claim_bounty',
    'owner_not_verified',
    () => ids.unowned as Agent,
    () => ({ bounty_id: ids.bountyId }),
  ],
  ['market_withdraw_claim', 'claim_not_found', bySeller, () => ({ bounty_id: ids.bountyId })],
  ['market_register_token', 'wrong_credential', bySeller, token],
  ['market_register_token', 'bad_wallet_fields', bySeller, () => ({ ...token(), wallet: PAYEE })],
  ['market_launch_token', 'invalid', bySeller, () => ({ symbol: 'TOK' })],
  ['market_launch_token', 'x_account_missing', () => ids.silent, () => ({ symbol: 'TOK' })],
  ['market_launch_token', 'agent_wallet_underfunded', () => ids.poor, () => ({ symbol: 'TOK' })],
  ['market_launch_token', 'token_exists', () => ids.launched, () => ({ symbol: 'TOK' })],
  ['market_earn_markets', 'earn_unavailable', bySeller, () => ({})],
  [
    ...(['market_earn_deposit', 'earn_unavailable', bySeller] as const),
    () => ({ amount_usd: '100.00', incoming_tx_hash: TRANSFER }),
  ],
  ['market_earn_withdraw', 'earn_unavailable', bySeller, () => ({ all: true })],
  ['market_get_payment_requirements', 'not_payable', bySeller, () => ({ service_id: ids.quotedId })],
  [
    ...(['market_submit_payment', 'malformed_payment', byBuyer] as const),
    () => ({ service_id: ids.fixedId, brief: BRIEF, payment: 'no hash' }),
  ],
]

test.each(REJECTIONS)('%s: %s is an error', async (name, code, by, args) => {
  const result = await checked(await callerOf(by().apiKey, name), name, args())
  expect(errorOf(result)).toMatchObject({ isError: true, code })
})

test('market_launch_token: an underfunded wallet reaches the client with its deposit address', async () => {
  const result = await checked(await clientOf(ids.poor.apiKey), 'market_launch_token', { symbol: 'TOK' })
  const funding = await market.client().get(`/api/agents/${ids.poor.id}/funding`, { bearer: ids.poor.apiKey })
  const { deposit_address } = funding.body.data
  expect(result._meta['market/error']).toMatchObject({
    status: 402,
    code: 'agent_wallet_underfunded',
    data: { deposit_address, balance_sol: 0, required_sol: expect.any(Number) },
  })
  // A sentence, and not the JSON of the response, in which a client would look for a price.
  expect(result.content[0]?.text).toContain(deposit_address)
  expect(result.content[0]?.text).not.toContain('{')
})

test('market_register_agent: has no argument to pay, because a tool cannot pay for a registration', async () => {
  const args = registration({ pay_to_register: true })
  const client = await callerOf(seller.apiKey, 'market_register_agent')
  const result = await checked(client, 'market_register_agent', args)
  expect(errorOf(result)).toMatchObject({ isError: true, code: 'invalid_input' })
})

test('market_submit_payment: a payment that is not accepted is an error with the price', async () => {
  const args = { service_id: ids.fixedId, brief: BRIEF, payment: TRANSFER }
  const result = await checked(await clientOf(buyer.apiKey), 'market_submit_payment', args)
  expect(result.isError).toBe(true)
})

describe.each(tools.map(({ name }) => name))('%s', (name) => {
  const given = (): readonly [Fields, number?] => everyTool(ids.fixedId)[name] ?? [{}]

  test('a call as it is meant succeeds with the output schema, or is an error', async () => {
    const agent = await makeOwnedAgent(market)
    const [args] = given()
    const mine = name === 'market_update_service' ? (await makeService(market, agent)).id : ids.fixedId
    const fields = 'service_id' in args ? { ...args, service_id: mine } : args
    await checked(await callerOf(agent.apiKey, name), name, fields)
  })

  test('wrong arguments are an error', async () => {
    const client = await callerOf(seller.apiKey, name)
    const result = await checked(client, name, { ...given()[0], no_such_field: 1 })
    const code = name === 'market_verify_twitter' ? 'gone' : 'invalid_input'
    expect(errorOf(result)).toMatchObject({ isError: true, code })
  })

  test('a limit that is used up is an error', async () => {
    const tool = findTool(name)
    if (tool === undefined || 'fails' in tool) return
    const agent = await makeOwnedAgent(market)
    await useUp(tool.operation.limit, agent.id)
    const result = await checked(await clientOf(agent.apiKey), name, given()[0])
    expect(errorOf(result)).toMatchObject({ isError: true, status: 429, code: 'rate_limited' })
  })
})

/** Uses up a limit for an agent, and for the address of this machine where that counts instead. */
async function useUp(name: keyof typeof LIMITS, agentId: string): Promise<void> {
  const limiter = redisLimiter({
    ...{ url: REDIS_URL, prefix: market.environment['REDIS_PREFIX'] ?? '' },
    ...{ onFallback: () => {}, log: console },
  })
  while (!(await limiter.ready())) await new Promise((resolve) => setImmediate(resolve))
  const app = { limiter, clock: { now: () => new Date(), wallTime: () => new Date() } }
  const { max } = LIMITS[name]
  await limit(app, { limit: name }, { address: `agent:${agentId}`, client: '198.51.100.7' }, max)
  await limit(app, { limit: name }, { address: ADDRESS }, max)
  await limiter.stop()
}

describe('over stdio', () => {
  let command: { command: string; args: string[]; env: Record<string, string> }
  beforeAll(async () => {
    const file = programFile(await currentBundle(), 'mcp-stdio')
    command = { command: process.execPath, args: [file], env: { MARKET_API_URL: market.url } }
  })

  test('without a key: every tool succeeds with its output schema or is an error, 401 where a credential is missing', async () => {
    const client = await STDIO_CLIENTS['client 2'](command)
    const statuses: Record<string, number | undefined> = {}
    for (const [name, [args]] of Object.entries(everyTool(ids.fixedId)))
      statuses[name] = errorOf(await checked(client, name, args)).status
    await client.close()
    const isOpen = ({ callers }: { readonly callers: readonly string[] }) => callers.includes('anonymous')
    const closed = tools.filter((tool) => 'operation' in tool && !isOpen(tool.operation))
    expect(closed.length).toBeGreaterThan(20)
    for (const { name } of closed) expect([name, statuses[name]]).toEqual([name, 401])
  })

  test('market_get_token: me is the agent of the key', async () => {
    const env = { ...command.env, MARKET_API_KEY: ids.launched.apiKey }
    const client = await STDIO_CLIENTS['client 2']({ ...command, env })
    const result = await checked(client, 'market_get_token', {})
    await client.close()
    expect(result.structuredContent.data).toMatchObject({ token_name: 'A Token' })
  })
})

describe('anonymous', () => {
  let client: McpClient
  beforeAll(async () => {
    client = await CLIENTS['client 2'](`${market.url}/api/x402/mcp`)
  })
  afterAll(() => client.close())

  test.each([
    ['search_agents', 'invalid_input', () => ({ limit: 51 })],
    ['hire_agent', 'invalid_input', () => ({ service_id: ids.fixedId })],
    ['hire_agent', 'not_payable', () => ({ service_id: ids.quotedId, brief: BRIEF })],
    ['hire_agent', 'service_not_found', () => ({ service_id: 'svc_1700000000000_zzzzzz', brief: BRIEF })],
    ['hire_agent', 'network_not_accepted', () => ({ service_id: ids.fixedId, brief: BRIEF, chain: 'base' })],
  ] as const)('%s: %s is an error', async (name, code, args) => {
    expect(errorOf(await client.call(name, args()))).toMatchObject({ isError: true, code })
  })

  test('hire_agent: names the chains of the service where the chosen one is not offered', async () => {
    const args = { service_id: ids.fixedId, brief: BRIEF, chain: 'base' }
    const { content, structuredContent } = await client.call('hire_agent', args)
    expect(content[0]?.text).toBe('This service cannot be paid on base. Pay on solana.')
    expect(structuredContent).toMatchObject({ x402Version: 2 })
  })

  test('hire_agent: 40 questions about the price leave the limit of payments unused', async () => {
    const args = { service_id: ids.fixedId, brief: BRIEF }
    for (let n = 0; n < 40; n++) {
      const { content } = await client.call('hire_agent', args)
      expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ network: 'solana-mainnet' })
    }
    const paid = await fetch(`${market.url}/api/x402/pay?service_id=${ids.fixedId}`, { method: 'POST' })
    expect(paid.status).toBe(402)
    expect(Number(paid.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(20)
  })
})
