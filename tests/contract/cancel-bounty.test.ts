import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import { bountyOf, makeBounty, makeClaim, NO_BOUNTY, postAs } from '../support/bounties.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeOwnedAgent, makeUser, signed, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'

let market: Market
/** Another bounty of the same poster, for a second call that succeeds too. */
let spare = ''
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (id: string) => `/api/bounties/${id}`
const CANCELLED = { status: 'cancelled' }
const cancel = (id: string, ask?: RequestOptions, body: unknown = CANCELLED) =>
  market.client().patch(pathOf(id), body, ask)

commonWriteErrors({
  market: () => market,
  operation: operations.cancelBounty,
  good: async () => {
    const { apiKey, owner } = await makeOwnedAgent(market)
    const ask = { bearer: apiKey }
    const fields = { client_wallet: owner.address }
    spare = await postAs(market, ask, fields)
    return { path: pathOf(await postAs(market, ask, fields)), body: CANCELLED, ask }
  },
  other: (call) => ({ ...call, path: pathOf(spare) }),
})

test('200: returns the cancelled bounty, and its pending claims are rejected', async () => {
  const { id, poster, sign } = await makeBounty(market)
  const { agent } = await makeClaim(market, id)
  const { status, body } = await cancel(id, { headers: await sign(`bounties.cancel:${id}`) })
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: bountyOf(id, poster.address, CANCELLED) })
  expect(Date.parse(body.data.updated_at)).toBeGreaterThan(Date.parse(body.data.created_at))
  const { data } = (await market.client().get(pathOf(id), { bearer: agent.apiKey })).body
  expect(data).toMatchObject({
    status: 'cancelled',
    my_claims: [{ status: 'rejected', ended_at: body.data.updated_at }],
  })
  // The poster accepted nobody else, so there is no event; the owner of the agent is notified.
  expect((await market.client().get('/api/events', { bearer: agent.apiKey })).body.data).toEqual([])
})

test('200: the owners of the claiming agents are notified', async () => {
  const { id, sign } = await makeBounty(market)
  const agent = await makeOwnedAgent(market)
  const claim = await makeClaim(market, id, agent)
  await cancel(id, { headers: await sign(`bounties.cancel:${id}`) })
  const headers = await signOnce(market, agent.owner, 'session')
  const { data } = (await market.client().get('/api/notifications', { headers })).body
  expect(data).toMatchObject([
    { kind: 'bounty.cancelled', data: { bounty_id: id, claim_id: claim.id }, read: false },
  ])
})

test('200: by the user, the agent or the wallet that posted it, and by who holds the wallet that was named', async () => {
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const agent = await makeOwnedAgent(market, {}, wallet)
  const fields = { client_wallet: wallet.address }
  const byUser = () => postAs(market, { bearer: token }, fields)
  const byAgent = () => postAs(market, { bearer: agent.apiKey }, fields)
  const byWallet = async () => (await makeBounty(market, {}, wallet)).id
  for (const post of [byUser, byAgent, byWallet]) {
    expect((await cancel(await post(), { bearer: token })).status).toBe(200)
    const id = await post()
    const headers = await signOnce(market, wallet, `bounties.cancel:${id}`)
    expect((await cancel(id, { headers })).status).toBe(200)
  }
  expect((await cancel(await byAgent(), { bearer: agent.apiKey })).status).toBe(200)
})

test('400: another status, and an invalid id', async () => {
  const { id, sign } = await makeBounty(market)
  const ask = async () => ({ headers: await sign(`bounties.cancel:${id}`) })
  for (const status of ['open', 'claimed', 'completed', 'expired', '', null, undefined])
    invalid(await cancel(id, await ask(), { status }), 'status')
  const { apiKey } = await makeOwnedAgent(market)
  invalid(await cancel('bounty_1', { bearer: apiKey }), 'bounty_id')
})

test('401: a signature that is expired, from the future, for another bounty or another action', async () => {
  const { id, poster } = await makeBounty(market, {}, await solanaSigner())
  for (const [code, proof] of await badSignatures(
    await solanaSigner(),
    `bounties.cancel:${id}`,
    market.now(),
  ))
    rejected(await cancel(id, { headers: asHeaders(proof) }), 401, code)
  for (const purpose of ['session', `bounties.cancel:${NO_BOUNTY}`, `bounties.create:${poster.address}`])
    rejected(await cancel(id, { headers: asHeaders(await signed(poster, purpose)) }), 401, 'bad_signature', {
      expected_purpose: `bounties.cancel:${id}`,
    })
})

test('403: another user, wallet or agent, an agent of the poster, and an operator', async () => {
  const wallet = evmSigner()
  const { id } = await makeBounty(market, {}, wallet)
  const ofPoster = await makeOwnedAgent(market, {}, wallet)
  const claimant = await makeClaim(market, id)
  const asks = [
    { bearer: (await makeUser(market)).token },
    { headers: await signOnce(market, evmSigner(), `bounties.cancel:${id}`) },
    { bearer: claimant.agent.apiKey },
    { bearer: ofPoster.apiKey },
    { bearer: await operatorToken(market) },
  ]
  for (const ask of asks) rejected(await cancel(id, ask), 403, 'not_your_bounty')
  rejected(await cancel(id, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: a missing bounty', async () => {
  const { apiKey } = await makeOwnedAgent(market)
  for (const id of ['bnty_1', NO_BOUNTY])
    rejected(await cancel(id, { bearer: apiKey }), 404, 'bounty_not_found')
})

test('409: a bounty that is cancelled already or has expired', async () => {
  const { id, sign } = await makeBounty(market)
  const ask = async (of = id) => ({ headers: await sign(`bounties.cancel:${of}`) })
  expect((await cancel(id, await ask())).status).toBe(200)
  const again = await cancel(id, await ask())
  rejected(again, 409, 'bounty_not_open')
  expect(again.body.error).toBe('This bounty was cancelled.')
  const late = await makeBounty(market)
  await market.advance(30 * DAY)
  const headers = await late.sign(`bounties.cancel:${late.id}`)
  rejected(await cancel(late.id, { headers }), 409, 'bounty_not_open')
})
