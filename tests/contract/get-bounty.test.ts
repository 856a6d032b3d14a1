import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import {
  bountyOf,
  claimOf,
  claimPath,
  ESCROW,
  makeBounty,
  makeClaim,
  NO_BOUNTY,
  postAs,
} from '../support/bounties.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { insertNamed } from '../support/named-transfers.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

let world: OrderWorld
let market: Market
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/bounties/${id}`
const CLAIMS = '?include_claims=1'
const get = (id: string, query = '', ask?: RequestOptions) =>
  market.client().get(`${pathOf(id)}${query}`, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.getBounty,
  good: async () => ({ path: pathOf((await makeBounty(market)).id) }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(NO_BOUNTY))

test('200: anybody reads the bounty with every field, without its claims', async () => {
  const { id, poster } = await makeBounty(market)
  await makeClaim(market, id, undefined, 'For the poster only')
  const asks = [
    undefined,
    { bearer: (await makeUser(market)).token },
    { bearer: (await makeAgent(market)).apiKey },
    { headers: await signOnce(market, evmSigner(), 'session') },
    { bearer: ADMIN_KEY },
  ]
  for (const ask of asks) {
    const { status, body } = await get(id, '', ask)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: {
        ...bountyOf(id, poster.address, { pending_claims: 1 }),
        ...{ role: 'reader', order_id: null, my_claims: [], claims: null, transfers: null },
      },
    })
  }
})

test('200: the poster reads the claims with include_claims, with their agents and how to pay', async () => {
  const { id, poster, sign } = await makeBounty(market)
  const withdrawn = await makeClaim(market, id)
  await market.client().send('DELETE', claimPath(id), { bearer: withdrawn.agent.apiKey })
  const pending = await makeClaim(market, id, undefined, 'I have made ten of these.')
  const { status, body } = await get(id, CLAIMS, { headers: await sign('session') })
  expect(status).toBe(200)
  const agent = async (agentId: string) => {
    const { name, slug, avatar_url } = (await market.client().get(`/api/agents/${agentId}`)).body.data.agent
    return { agent_id: agentId, name, slug, avatar_url, completed_orders: 0, avg_rating: null }
  }
  const payment = [
    {
      network: 'base-mainnet',
      pay_to: world.treasury,
      amount: String(ESCROW),
      amount_usd: '22.00',
      asset: { currency: 'USDC', address: expect.stringMatching(/^0x/) },
    },
  ]
  expect(body).toEqual({
    success: true,
    data: {
      ...bountyOf(id, poster.address, { pending_claims: 1 }),
      ...{ role: 'poster', order_id: null, my_claims: [], transfers: [] },
      claims: [
        {
          ...claimOf(pending, { message: 'I have made ten of these.' }),
          ...{ agent: await agent(pending.agentId), payment },
        },
        {
          ...claimOf(withdrawn, { status: 'withdrawn', ended_at: expect.any(String) }),
          ...{ agent: await agent(withdrawn.agentId), payment: [] },
        },
      ],
    },
  })
})

test('200: the poster sees what became of each transfer that was named for a claim', async () => {
  const { id, sign } = await makeBounty(market)
  const claim = await makeClaim(market, id)
  const at = new Date(market.now())
  const references = (['waiting', 'failed'] as const).map(
    (status, n) => [status, `0x${String(n).repeat(64)}`] as const,
  )
  for (const [n, [status, reference]] of references.entries())
    await insertNamed(market.db, {
      ...{ purpose: { kind: 'bounty', id: `bac_1700000000000_${'0'.repeat(16)}${n}` }, scope: id, reference },
      ...{ request: { claim_id: claim.id, proven_payers: [] }, status, at: new Date(at.getTime() + n) },
      depth: { confirmations: 7, required: 12 },
    })
  const { body } = await get(id, CLAIMS, { headers: await sign('session') })
  expect(body.data.transfers).toEqual(
    references.toReversed().map(([status, escrow_tx_hash]) => ({
      ...{ claim_id: claim.id, network: 'base-mainnet', escrow_tx_hash, status },
      // Only what is waited for is counted.
      ...(status === 'waiting'
        ? { confirmations: 7, required: 12 }
        : { confirmations: null, required: null }),
      ...{ refund: null, created_at: expect.any(String) },
    })),
  )
  expect((await get(id)).body.data.transfers).toBeNull()
})

test('200: the poster is a wallet, a user, an agent, or who holds the wallet that was named', async () => {
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const agent = await makeOwnedAgent(market, {}, wallet)
  const posted = {
    byWallet: (await makeBounty(market, {}, wallet)).id,
    byUser: await postAs(market, { bearer: token }, { client_wallet: wallet.address }),
    byAgent: await postAs(market, { bearer: agent.apiKey }, { client_wallet: wallet.address }),
  }
  const headers = await signOnce(market, wallet, 'session')
  for (const id of Object.values(posted))
    for (const ask of [{ bearer: token }, { headers }])
      expect((await get(id, CLAIMS, ask)).body.data).toMatchObject({ role: 'poster', claims: [] })
  expect((await get(posted.byAgent, CLAIMS, { bearer: agent.apiKey })).body.data.role).toBe('poster')
  // An API key has no other right of its owner.
  for (const id of [posted.byWallet, posted.byUser])
    rejected(await get(id, CLAIMS, { bearer: agent.apiKey }), 404, 'claims_not_found')
})

test('200: include_claims as 1 or true, and 0 or false as if it were left out', async () => {
  const { id, sign } = await makeBounty(market)
  const ask = { headers: await sign('session') }
  for (const value of ['1', 'true'])
    expect((await get(id, `?include_claims=${value}`, ask)).body.data.claims).toEqual([])
  for (const value of ['0', 'false'])
    expect((await get(id, `?include_claims=${value}`)).body.data.claims).toBeNull()
})

test('200: a claimant reads the own claim, and so does the agent’s owner', async () => {
  const { id } = await makeBounty(market)
  const agent = await makeOwnedAgent(market)
  const claim = await makeClaim(market, id, agent, 'Mine')
  await makeClaim(market, id, undefined, 'Of another agent')
  const owner = { headers: await signOnce(market, agent.owner, 'session') }
  for (const ask of [{ bearer: agent.apiKey }, owner])
    expect((await get(id, '', ask)).body.data).toMatchObject({
      role: 'claimant',
      claims: null,
      my_claims: [claimOf(claim, { message: 'Mine' })],
    })
})

test('200: order_id for the poster and the agent whose claim was accepted, null for everybody else', async () => {
  const buyer = await world.newBuyer()
  const { id, sign } = await makeBounty(market, {}, buyer)
  const winner = await makeOwnedAgent(market)
  const won = await makeClaim(market, id, winner)
  const loser = await makeClaim(market, id)
  const accept = {
    ...{ claim_id: won.id, client_wallet: buyer.address },
    escrow_tx_hash: await world.settled(buyer, ESCROW),
  }
  const headers = await sign(`bounties.accept:${id}:${won.id}`)
  const accepted = await market.client().post(`${pathOf(id)}/accept`, accept, { headers })
  const { order_id } = accepted.body.data
  expect([accepted.status, order_id]).toEqual([200, expect.stringMatching(/^ord_/)])
  const seenBy = async (ask?: RequestOptions) => {
    const { data } = (await get(id, '', ask)).body
    return [data.role, data.status, data.order_id]
  }
  const session = { headers: await sign('session') }
  const owner = { headers: await signOnce(market, winner.owner, 'session') }
  expect(await seenBy(session)).toEqual(['poster', 'claimed', order_id])
  for (const ask of [{ bearer: winner.apiKey }, owner])
    expect(await seenBy(ask)).toEqual(['claimant', 'claimed', order_id])
  expect(await seenBy({ bearer: loser.agent.apiKey })).toEqual(['claimant', 'claimed', null])
  for (const ask of [undefined, { bearer: (await makeUser(market)).token }, { bearer: ADMIN_KEY }])
    expect(await seenBy(ask)).toEqual(['reader', 'claimed', null])
  const mine = async (ask: RequestOptions) =>
    (await market.client().get('/api/bounties/my', ask)).body.data[0].order_id
  expect([await mine(session), await mine({ bearer: winner.apiKey })]).toEqual([order_id, order_id])
  expect(await mine({ bearer: loser.agent.apiKey })).toBeNull()
  const { claims } = (await get(id, CLAIMS, session)).body.data
  expect(claims).toMatchObject([
    { claim_id: won.id, status: 'accepted', payment: [] },
    { claim_id: loser.id, status: 'rejected', payment: [] },
  ])
})

test('400: an invalid id or include_claims', async () => {
  for (const id of ['bounty_1', 'ord_1', 'bnty_']) invalid(await get(id), 'bounty_id')
  for (const value of ['2', 'yes', ''])
    invalid(await get(NO_BOUNTY, `?include_claims=${value}`), 'include_claims')
})

test('401: a wrong credential, also for a bounty that does not exist', async () => {
  rejected(await get(NO_BOUNTY, '', { bearer: `market_${'0'.repeat(49)}` }), 401, 'bad_api_key')
  rejected(await get(NO_BOUNTY, '', { bearer: 'not.a.token' }), 401, 'bad_token')
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.now()))
    rejected(await get(NO_BOUNTY, '', { headers: asHeaders(proof) }), 401, code)
})

test('404: a missing bounty, and the claims for everybody but the poster', async () => {
  for (const id of ['bnty_1', NO_BOUNTY])
    for (const query of ['', CLAIMS]) rejected(await get(id, query), 404, 'bounty_not_found')
  const { id } = await makeBounty(market)
  const { agent } = await makeClaim(market, id)
  const asks = [
    undefined,
    { bearer: agent.apiKey },
    { bearer: (await makeUser(market)).token },
    { bearer: await operatorToken(market) },
    { bearer: ADMIN_KEY },
    { headers: await signOnce(market, evmSigner(), 'session') },
  ]
  for (const ask of asks) rejected(await get(id, CLAIMS, ask), 404, 'claims_not_found')
})
