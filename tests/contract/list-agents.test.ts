import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { asHeaders, makeAgent, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { publicAgent } from '../support/shapes.ts'

const PATH = '/api/agents'
const MINT = 'So11111111111111111111111111111111111111112'

type Made = Awaited<ReturnType<typeof makeOwnedAgent>>

let market: Market
/** Four public agents in order of creation, each first in one sort order, and one without an owner. */
let steady: Made
let starred: Made
let busy: Made
let young: Made
beforeAll(async () => {
  market = await startMarket()
  const owner = evmSigner()
  steady = await makeOwnedAgent(market, { name: 'Steady Translator', capabilities: ['coding'] }, owner)
  starred = await makeOwnedAgent(
    market,
    { name: 'Starred Painter', ai_models: ['model-a', 'model-b'] },
    owner,
  )
  busy = await makeOwnedAgent(market, { name: 'Busy Painter', capabilities: ['coding', 'image_gen'] })
  young = await makeOwnedAgent(market, { description: 'Paints murals on the walls of data centres.' })
  await makeAgent(market, { capabilities: ['coding'], ai_models: ['model-a'] })
  await become(steady, { completed_orders: 5, total_orders: 6, rating_sum: 9, rating_count: 3 })
  await become(starred, { completed_orders: 2, total_orders: 2, rating_sum: 50, rating_count: 10 })
  await become(busy, { completed_orders: 90, total_orders: 99, service_count: 1, token_mint: MINT })
})
afterAll(() => market.stop())

const become = (agent: Made, counts: Record<string, number | string>) =>
  market.db.updateTable('agents').set(counts).where('id', '=', agent.id).execute()

const list = (query: Record<string, string> = {}, ask?: RequestOptions) =>
  market.client().get(`${PATH}?${new URLSearchParams(query)}`, ask)

async function names(query: Record<string, string>, ask?: RequestOptions): Promise<string[]> {
  const { status, body } = await list(query, ask)
  expect(status).toBe(200)
  return body.data.map(({ id }: { id: string }) => nameOf(id))
}

const nameOf = (id: string): string =>
  Object.entries({ steady, starred, busy, young }).find(([, agent]) => agent.id === id)?.[0] ?? 'unknown'

commonErrors({
  market: () => market,
  operation: operations.listAgents,
  good: async () => ({ path: PATH }),
})

test('200: public agents with all fields, and next_cursor null at the end', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  const shown = (agent: Made, fields: object) =>
    publicAgent(agent, { owner_wallet: agent.owner.address, marketable: true, verified: 1, ...fields })
  expect(body).toEqual({
    success: true,
    data: [
      shown(busy, {
        completed_orders: 90,
        total_orders: 99,
        token_mint: MINT,
        capabilities: ['coding', 'image_gen'],
      }),
      shown(steady, { completed_orders: 5, total_orders: 6, avg_rating: 3, capabilities: ['coding'] }),
      shown(starred, {
        completed_orders: 2,
        total_orders: 2,
        avg_rating: 5,
        ai_models: ['model-a', 'model-b'],
      }),
      shown(young, {}),
    ],
    next_cursor: null,
  })
})

test('200: sorted by orders, by age, and by rating weighted by the number of reviews', async () => {
  expect(await names({ sort: 'popular' })).toEqual(['busy', 'steady', 'starred', 'young'])
  expect(await names({ sort: 'newest' })).toEqual(['young', 'busy', 'starred', 'steady'])
  expect(await names({ sort: 'rating' })).toEqual(['starred', 'young', 'busy', 'steady'])
})

test('200: each filter, alone and together, before the limit is applied', async () => {
  expect(await names({ category: 'coding' })).toEqual(['busy', 'steady'])
  expect(await names({ category: 'coding', limit: '1', sort: 'rating' })).toEqual(['busy'])
  expect(await names({ category: 'ugc' })).toEqual([])
  expect(await names({ model: 'model-a' })).toEqual(['starred'])
  expect(await names({ services: 'with' })).toEqual(['busy'])
  expect(await names({ tokenized: 'true' })).toEqual(['busy'])
  expect(await names({ tokenized: 'false' })).toEqual(['steady', 'starred', 'young'])
  expect(await names({ owner_wallet: steady.owner.address.toLowerCase() })).toEqual(['steady', 'starred'])
  expect(await names({ owner_wallet: evmSigner().address })).toEqual([])
  expect(await names({ owner_wallet: steady.owner.address, category: 'coding' })).toEqual(['steady'])
})

test('200: search matches stemmed words of name and description, and parts of the name', async () => {
  expect((await names({ search: 'painter' })).sort()).toEqual(['busy', 'starred'])
  expect(await names({ search: 'mural' })).toEqual(['young'])
  expect(await names({ search: 'ransla' })).toEqual(['steady'])
  expect(await names({ search: 'painter', category: 'coding' })).toEqual(['busy'])
  expect(await names({ search: "100%' OR 1=1 --" })).toEqual([])
})

test('200: a search with a sort is listed in that order, before the limit is applied', async () => {
  const search = 'painter'
  expect(await names({ search, sort: 'popular' })).toEqual(['busy', 'starred'])
  expect(await names({ search, sort: 'newest' })).toEqual(['busy', 'starred'])
  expect(await names({ search, sort: 'rating' })).toEqual(['starred', 'busy'])
  expect(await names({ search, sort: 'rating', limit: '1' })).toEqual(['starred'])
  expect(await names({ search, sort: 'rating', category: 'coding' })).toEqual(['busy'])
})

test('200: pages contain each agent once in every sort order', async () => {
  const search = 'painter'
  const sorts = [{ sort: 'popular' }, { sort: 'newest' }, { sort: 'rating' }]
  for (const query of [...sorts, { search }, ...sorts.map((sort) => ({ search, ...sort }))]) {
    const whole = await names(query)
    const pages: string[] = []
    let cursor: string | null | undefined
    do {
      const { body } = await list({ ...query, limit: '1', ...(cursor && { cursor }) })
      expect(body.data).toHaveLength(1)
      pages.push(nameOf(body.data[0].id))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(pages).toEqual(whole)
  }
})

test('200: the agents of a wallet with its reusable signature, in the query or in headers', async () => {
  const owner_wallet = steady.owner.address
  const proof = await signed(steady.owner, 'session', market.now())
  const inQuery = { owner_wallet, ...proof, wallet_sig_ts: String(proof.wallet_sig_ts) }
  for (let round = 0; round < 2; round++) {
    expect(await names(inQuery)).toEqual(['steady', 'starred'])
    expect(await names({ owner_wallet }, { headers: asHeaders(proof) })).toEqual(['steady', 'starred'])
  }
})

test('200: an agent without an owner is in no wallet’s list', async () => {
  const owner = evmSigner()
  await makeAgent(market, { owner_wallet: owner.address })
  const headers = asHeaders(await signed(owner, 'session', market.now()))
  expect(await names({ owner_wallet: owner.address }, { headers })).toEqual([])
})

test('400: an invalid filter value', async () => {
  for (const [field, value] of [
    ['sort', 'cheapest'],
    ['category', 'dancing'],
    ['services', 'without'],
    ['tokenized', 'maybe'],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', 'all'],
    ['search', ''],
    ['search', 'x'.repeat(101)],
    ['model', 'x'.repeat(31)],
    ['owner_wallet', 'nobody'],
  ] as const) {
    expect((await list({ [field]: value })).body.details?.[0]?.path).toBe(field)
  }
  invalid(await market.client().get(`${PATH}?sort=newest&sort=rating`), 'sort')
})

test('400: a forged cursor, or one of another sort order', async () => {
  for (const cursor of [
    'nonsense',
    forgeCursor({}),
    forgeCursor(['agents:popular', '5', steady.id]),
    forgeCursor(['agents:popular', 5, "' or 1=1"]),
    forgeCursor(['agents:popular', 1e300, steady.id]),
    forgeCursor(['agents:popular', -1, steady.id]),
    forgeCursor(['agents:newest', 5, steady.id]),
  ]) {
    const reply = await list({ cursor })
    invalid(reply, 'cursor')
  }
  const { body } = await list({ sort: 'newest', limit: '1' })
  invalid(await list({ sort: 'rating', cursor: body.next_cursor ?? '' }), 'cursor')
})

test('401: a signature that is expired, from the future, for another purpose, or of another wallet', async () => {
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, 'session', market.now())) {
    rejected(await list({ owner_wallet: signer.address }, { headers: asHeaders(proof) }), 401, code)
  }
})

test('403: a signature by a wallet other than the requested one', async () => {
  const headers = asHeaders(await signed(evmSigner(), 'session', market.now()))
  rejected(await list({ owner_wallet: steady.owner.address }, { headers }), 403, 'wrong_wallet')
})

test('503: a contract wallet’s signature while its chain is unavailable', async () => {
  const proof = await signed(evmSigner(), 'session', market.now())
  const headers = asHeaders({ ...proof, wallet: steady.owner.address })
  rejected(await list({ owner_wallet: steady.owner.address }, { headers }), 503, 'unavailable')
})
