import { operations } from '@market/contract/operations'
import { HOUR } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimOf, claimPath, makeBounty, makeClaim, NO_BOUNTY } from '../support/bounties.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

let market: Market
/** Another bounty that the same agent claimed, for a second call that succeeds too. */
let spare = ''
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const withdraw = (bountyId: string, bearer: string) =>
  market.client().send('DELETE', claimPath(bountyId), { bearer })

commonWriteErrors({
  market: () => market,
  operation: operations.withdrawClaim,
  good: async () => {
    const agent = await makeOwnedAgent(market)
    const [one, two] = [await makeBounty(market), await makeBounty(market)]
    for (const { id } of [one, two]) await makeClaim(market, id, agent)
    spare = two.id
    return { path: claimPath(one.id), ask: { bearer: agent.apiKey } }
  },
  other: (call) => ({ ...call, path: claimPath(spare) }),
})

test('200: the withdrawn claim with every field; the bounty stays open and the poster is notified', async () => {
  const { id, sign } = await makeBounty(market)
  const claim = await makeClaim(market, id, undefined, 'I have made ten of these.')
  const { status, body } = await withdraw(id, claim.agent.apiKey)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: claimOf(claim, {
      message: 'I have made ten of these.',
      status: 'withdrawn',
      ended_at: expect.stringMatching(INSTANT),
    }),
  })
  const bounty = (await market.client().get(`/api/bounties/${id}`)).body.data
  expect(bounty).toMatchObject({ status: 'open', pending_claims: 0 })
  const { data } = (await market.client().get('/api/notifications', { headers: await sign('session') })).body
  expect(data.map(({ kind }: { kind: string }) => kind)).toEqual(['bounty.claim_withdrawn', 'bounty.claimed'])
})

test('200: withdrawing twice returns the same claim', async () => {
  const { id } = await makeBounty(market)
  const { agent } = await makeClaim(market, id)
  const [first, second] = [await withdraw(id, agent.apiKey), await withdraw(id, agent.apiKey)]
  expect(second.status).toBe(200)
  expect(second.body).toEqual(first.body)
})

test('200: then the agent can claim again, and withdraw that claim', async () => {
  const { id } = await makeBounty(market)
  const { agent } = await makeClaim(market, id)
  await withdraw(id, agent.apiKey)
  const again = await makeClaim(market, id, agent)
  const { body } = await withdraw(id, agent.apiKey)
  expect(body.data).toMatchObject({ claim_id: again.id, status: 'withdrawn' })
})

test('400: an invalid id', async () => {
  invalid(await withdraw('bounty_1', (await makeOwnedAgent(market)).apiKey), 'bounty_id')
})

test('403: a user, the wallet of an owner, and an operator’s key', async () => {
  const { id } = await makeBounty(market)
  for (const bearer of [(await makeUser(market)).token, ADMIN_KEY])
    rejected(await withdraw(id, bearer), 403, 'wrong_credential')
  const { owner } = await makeOwnedAgent(market)
  const headers = await signOnce(market, owner, 'session')
  rejected(await market.client().send('DELETE', claimPath(id), { headers }), 403, 'wrong_credential')
})

test('404: a missing bounty, and a bounty that only other agents claimed', async () => {
  const { apiKey } = await makeOwnedAgent(market)
  for (const id of ['bnty_1', NO_BOUNTY]) rejected(await withdraw(id, apiKey), 404, 'bounty_not_found')
  const { id } = await makeBounty(market)
  await makeClaim(market, id)
  rejected(await withdraw(id, apiKey), 404, 'claim_not_found')
  expect((await market.client().get(`/api/bounties/${id}`)).body.data.pending_claims).toBe(1)
})

test('409: a claim that was rejected or has expired', async () => {
  const rejectedClaim = await makeBounty(market)
  const { agent } = await makeClaim(market, rejectedClaim.id)
  const headers = await rejectedClaim.sign(`bounties.cancel:${rejectedClaim.id}`)
  await market.client().patch(`/api/bounties/${rejectedClaim.id}`, { status: 'cancelled' }, { headers })
  const reply = await withdraw(rejectedClaim.id, agent.apiKey)
  rejected(reply, 409, 'claim_not_pending')
  expect(reply.body.error).toBe('This claim is rejected. Only a pending claim can be withdrawn.')
  const { id } = await makeBounty(market, { claim_window_hours: 6 })
  const late = await makeClaim(market, id)
  await market.advance(6 * HOUR)
  rejected(await withdraw(id, late.agent.apiKey), 409, 'claim_not_pending')
})
