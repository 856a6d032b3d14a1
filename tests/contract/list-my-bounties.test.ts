import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import { bountyOf, claimOf, claimPath, makeBounty, makeClaim, postAs } from '../support/bounties.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/bounties/my'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const list = (ask: RequestOptions, query = '') => market.client().get(`${PATH}${query}`, ask)
const idsOf = async (ask: RequestOptions, query = ''): Promise<string[]> =>
  (await list(ask, query)).body.data.map(({ bounty_id }: { bounty_id: string }) => bounty_id)

const subject: Subject = {
  market: () => market,
  operation: operations.listMyBounties,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

test('200: what a wallet posted and what its agent claimed, newest first, with every field', async () => {
  const wallet = evmSigner()
  const agent = await makeOwnedAgent(market, {}, wallet)
  const posted = await makeBounty(market, {}, wallet)
  const other = await makeBounty(market)
  const { id } = await makeClaim(market, other.id, agent, 'I have made ten of these.')
  await makeClaim(market, other.id)
  const { status, body } = await list({ headers: await signOnce(market, wallet, 'session') })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: [
      {
        ...bountyOf(other.id, other.poster.address, { pending_claims: 2 }),
        role: 'claimant',
        order_id: null,
        my_claims: [
          claimOf({ id, bountyId: other.id, agentId: agent.id }, { message: 'I have made ten of these.' }),
        ],
      },
      { ...bountyOf(posted.id, wallet.address), role: 'poster', order_id: null, my_claims: [] },
    ],
    next_cursor: null,
    total: 2,
  })
})

test('200: nothing for a caller who neither posted nor claimed', async () => {
  await makeBounty(market)
  const { body } = await list({ bearer: (await makeUser(market)).token })
  expect(body).toEqual({ success: true, data: [], next_cursor: null, total: 0 })
})

test('200: the newest claim of an agent that claimed again, and one entry per bounty', async () => {
  const agent = await makeOwnedAgent(market)
  const bounty = await makeBounty(market)
  await makeClaim(market, bounty.id, agent, 'The first')
  await market.client().send('DELETE', claimPath(bounty.id), { bearer: agent.apiKey })
  const { id } = await makeClaim(market, bounty.id, agent, 'The second')
  const { data, total } = (await list({ bearer: agent.apiKey })).body as never as {
    data: { my_claims: unknown[] }[]
    total: number
  }
  expect([data.length, total]).toEqual([1, 1])
  expect(data[0]?.my_claims).toMatchObject([{ claim_id: id, message: 'The second', status: 'pending' }])
})

test('200: a user has what the account, a linked wallet and the agents of both posted or claimed', async () => {
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const ofAccount = await makeAgent(market, { idp_access_token: token })
  const ofWallet = await makeOwnedAgent(market, {}, wallet)
  const byUser = await postAs(market, { bearer: token }, { client_wallet: wallet.address })
  const byWallet = (await makeBounty(market, {}, wallet)).id
  const byAgent = await postAs(market, { bearer: ofWallet.apiKey }, { client_wallet: wallet.address })
  const claimed = await makeBounty(market)
  await makeClaim(market, claimed.id, ofAccount)
  await makeClaim(market, claimed.id, ofWallet)
  const mine = await list({ bearer: token })
  expect(mine.body.data.map(({ bounty_id, role }: Record<string, string>) => [bounty_id, role])).toEqual([
    [claimed.id, 'claimant'],
    [byAgent, 'poster'],
    [byWallet, 'poster'],
    [byUser, 'poster'],
  ])
  expect(mine.body.data[0].my_claims).toHaveLength(2)
  // An agent sees what it posted or claimed itself, not what its owner did.
  expect(await idsOf({ bearer: ofWallet.apiKey })).toEqual([claimed.id, byAgent])
  expect(await idsOf({ bearer: ofAccount.apiKey })).toEqual([claimed.id])
})

test('200: the pages have every bounty once, with a limit of 1 to 100', async () => {
  const wallet = evmSigner()
  const made: string[] = []
  for (let n = 0; n < 3; n++) made.unshift((await makeBounty(market, {}, wallet)).id)
  const headers = await signOnce(market, wallet, 'session')
  expect(await idsOf({ headers }, '?limit=100')).toEqual(made)
  const found: string[] = []
  let cursor = ''
  for (let page = 0; page === 0 || cursor !== ''; page++) {
    const { body } = await list({ headers }, `?limit=1${cursor}`)
    expect([body.data.length, body['total']]).toEqual([1, 3])
    found.push(body.data[0].bounty_id)
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  }
  expect(found).toEqual(made)
})

test('400: an invalid limit or cursor, also one of the public list', async () => {
  const ask = { bearer: (await makeAgent(market)).apiKey }
  for (const limit of ['0', '101', 'all']) invalid(await list(ask, `?limit=${limit}`), 'limit')
  await makeBounty(market)
  await makeBounty(market)
  const { next_cursor } = (await market.client().get('/api/bounties?limit=1')).body
  for (const cursor of ['x', forgeCursor(['my-bounties', 1]), next_cursor])
    invalid(await list(ask, `?cursor=${cursor}`), 'cursor')
})

test('401: a wrong signature', async () => {
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.now()))
    rejected(await list({ headers: asHeaders(proof) }), 401, code)
})

test('403: an operator’s key', async () => {
  rejected(await list({ bearer: ADMIN_KEY }), 403, 'wrong_credential')
})
