import { operations } from '@market/contract/operations'
import { HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import {
  claimOf,
  claimPath,
  makeBounty,
  makeClaim,
  NO_BOUNTY,
  NO_CLAIM,
  postAs,
} from '../support/bounties.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeOwnedAgent, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'

let market: Market
/** Another claim on a bounty of the same poster, for a second call that succeeds too. */
let spare = ''
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (bountyId: string, claimId: string) => `/api/bounties/${bountyId}/claims/${claimId}/reject`
const purposeOf = (bountyId: string, claimId: string) => `bounties.reject:${bountyId}:${claimId}`
const reject = (bountyId: string, claimId: string, ask?: RequestOptions) =>
  market.client().post(pathOf(bountyId, claimId), {}, ask)

commonWriteErrors({
  market: () => market,
  operation: operations.rejectClaim,
  good: async () => {
    const { apiKey, owner } = await makeOwnedAgent(market)
    const ask = { bearer: apiKey }
    const id = await postAs(market, ask, { client_wallet: owner.address })
    spare = pathOf(id, (await makeClaim(market, id)).id)
    return { path: pathOf(id, (await makeClaim(market, id)).id), body: {}, ask }
  },
  other: (call) => ({ ...call, path: spare }),
})

test('200: the claim is rejected with an event, the bounty stays open, and the agent cannot claim it again', async () => {
  const { id, sign } = await makeBounty(market)
  const agent = await makeOwnedAgent(market)
  const claim = await makeClaim(market, id, agent)
  for (let times = 0; times < 2; times++) {
    const headers = await sign(purposeOf(id, claim.id))
    const { status, body } = await reject(id, claim.id, { headers })
    expect(status).toBe(200)
    expect(body.data).toEqual(
      claimOf({ ...claim, agentId: agent.id }, { status: 'rejected', ended_at: expect.any(String) }),
    )
  }
  const events = await market.client().get('/api/events', { bearer: agent.apiKey })
  expect(events.body.data).toMatchObject([{ event: 'bounty.claim_rejected', data: { bounty_id: id } }])
  const headers = await signOnce(market, agent.owner, 'session')
  const inbox = await market.client().get('/api/notifications', { headers })
  expect(inbox.body.data).toMatchObject([{ kind: 'bounty.claim_rejected', data: { claim_id: claim.id } }])
  const bounty = await market.client().get(`/api/bounties/${id}`)
  expect(bounty.body.data).toMatchObject({ status: 'open', pending_claims: 0 })
  rejected(await market.client().post(claimPath(id), {}, { bearer: agent.apiKey }), 409, 'claim_rejected')
  expect((await makeClaim(market, id)).id).not.toBe(claim.id)
})

test('400: an invalid bounty or claim id', async () => {
  const { apiKey } = await makeOwnedAgent(market)
  invalid(await reject('bounty_1', NO_CLAIM, { bearer: apiKey }), 'bounty_id')
  invalid(await reject(NO_BOUNTY, 'claim_1', { bearer: apiKey }), 'claim_id')
})

test('401: a signature that is expired or for another purpose', async () => {
  const { id } = await makeBounty(market)
  const claim = await makeClaim(market, id)
  const bad = await badSignatures(await solanaSigner(), purposeOf(id, claim.id), market.wallTime())
  for (const [code, proof] of bad)
    rejected(await reject(id, claim.id, { headers: asHeaders(proof) }), 401, code)
})

test('403: who did not post the bounty, also the claiming agent, and an admin key', async () => {
  const { id } = await makeBounty(market)
  const claim = await makeClaim(market, id)
  const headers = await signOnce(market, evmSigner(), purposeOf(id, claim.id))
  rejected(await reject(id, claim.id, { headers }), 403, 'not_your_bounty')
  rejected(await reject(id, claim.id, { bearer: claim.agent.apiKey }), 403, 'not_your_bounty')
  rejected(await reject(id, claim.id, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: a bounty or claim that does not exist, and a claim on another bounty', async () => {
  const { id, sign } = await makeBounty(market)
  const other = await makeClaim(market, (await makeBounty(market)).id)
  const ask = async (bountyId: string, claimId: string) =>
    reject(bountyId, claimId, { headers: await sign(purposeOf(bountyId, claimId)) })
  rejected(await ask(NO_BOUNTY, NO_CLAIM), 404, 'bounty_not_found')
  rejected(await ask(id, NO_CLAIM), 404, 'claim_not_found')
  rejected(await ask(id, other.id), 404, 'claim_not_found')
})

test('409: a claim that was withdrawn or has expired, and a bounty that has ended', async () => {
  const { id, sign } = await makeBounty(market, { claim_window_hours: 6 })
  const [withdrawn, expired] = [await makeClaim(market, id), await makeClaim(market, id)]
  await market.client().send('DELETE', claimPath(id), { bearer: withdrawn.agent.apiKey })
  const ask = async (claimId: string) => reject(id, claimId, { headers: await sign(purposeOf(id, claimId)) })
  rejected(await ask(withdrawn.id), 409, 'claim_not_pending')
  await market.advance(6 * HOUR)
  rejected(await ask(expired.id), 409, 'claim_not_pending')
  await market
    .client()
    .patch(`/api/bounties/${id}`, { status: 'cancelled' }, { headers: await sign(`bounties.cancel:${id}`) })
  rejected(await ask(expired.id), 409, 'bounty_not_open')
})
