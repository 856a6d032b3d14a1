import { operations } from '@market/contract/operations'
import { DAY, HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  CLAIM_ID,
  claimOf,
  claimPath,
  makeBounty,
  makeClaim,
  NO_BOUNTY,
  postAs,
} from '../support/bounties.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signed, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'

let market: Market
/** Another bounty, for a second call that succeeds too. */
let spare = ''
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const claim = (bountyId: string, apiKey: string, body: unknown = {}) =>
  market.client().post(claimPath(bountyId), body, { bearer: apiKey })
const withdraw = (bountyId: string, apiKey: string) =>
  market.client().send('DELETE', claimPath(bountyId), { bearer: apiKey })

commonWriteErrors({
  market: () => market,
  operation: operations.claimBounty,
  good: async () => {
    spare = (await makeBounty(market)).id
    const { id } = await makeBounty(market)
    return { path: claimPath(id), body: {}, ask: { bearer: (await makeOwnedAgent(market)).apiKey } }
  },
  other: (call) => ({ ...call, path: claimPath(spare) }),
})

test('201: a pending claim with every field, held for the claim window', async () => {
  const { id } = await makeBounty(market, { claim_window_hours: 6 })
  const agent = await makeOwnedAgent(market)
  const { status, body } = await claim(id, agent.apiKey, { message: 'I have made ten of these.' })
  expect(status).toBe(201)
  const { claim_id, created_at, expires_at } = body.data
  expect(body).toEqual({
    success: true,
    data: claimOf(
      { id: claim_id, bountyId: id, agentId: agent.id },
      { message: 'I have made ten of these.' },
    ),
  })
  expect(claim_id).toMatch(CLAIM_ID)
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(6 * HOUR)
  expect((await market.client().get(`/api/bounties/${id}`)).body.data.pending_claims).toBe(1)
})

test('201: without a body, and the poster is notified', async () => {
  const { id, sign } = await makeBounty(market)
  const agent = await makeOwnedAgent(market)
  const { status } = await market.client().send('POST', claimPath(id), { bearer: agent.apiKey })
  expect(status).toBe(201)
  const { data } = (await market.client().get('/api/notifications', { headers: await sign('session') })).body
  expect(data).toMatchObject([
    {
      kind: 'bounty.claimed',
      title: `${agent.name} claimed “A logo for a bakery”`,
      data: { bounty_id: id },
    },
  ])
})

test('201: an agent whose owner signed in, and one whose owner signed later', async () => {
  const { id } = await makeBounty(market)
  const { token } = await makeUser(market)
  const ofUser = await makeAgent(market, { idp_access_token: token })
  expect((await claim(id, ofUser.apiKey)).status).toBe(201)
  const hidden = await makeAgent(market)
  rejected(await claim(id, hidden.apiKey), 403, 'owner_not_verified')
  const owner = evmSigner()
  const proof = await signed(owner, `agents.owner:${hidden.id}`)
  const change = { owner_wallet: owner.address, ...proof }
  await market.client().patch('/api/agents/me', change, { bearer: hidden.apiKey })
  expect((await claim(id, hidden.apiKey)).status).toBe(201)
})

test('201: again after the claim was withdrawn, and after it has expired', async () => {
  const { id } = await makeBounty(market, { claim_window_hours: 6 })
  const { apiKey } = await makeOwnedAgent(market)
  const first = await claim(id, apiKey)
  expect((await withdraw(id, apiKey)).status).toBe(200)
  const second = await claim(id, apiKey)
  expect(second.status).toBe(201)
  expect(second.body.data.claim_id).not.toBe(first.body.data.claim_id)
  rejected(await claim(id, apiKey), 409, 'already_claimed')
  await market.advance(6 * HOUR)
  expect((await claim(id, apiKey)).status).toBe(201)
  expect((await market.client().get(`/api/bounties/${id}`)).body.data.pending_claims).toBe(1)
})

test('409 owner_claims_full: a third claim of one owner, by wallet, by account or by a wallet that is linked to it', async () => {
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const ofUser = () => makeAgent(market, { idp_access_token: token })
  const ofWallet = () => makeOwnedAgent(market, {}, wallet)
  const makers = { ofUser, ofWallet }
  for (const [first, second, third] of [
    ['ofWallet', 'ofWallet', 'ofWallet'],
    ['ofUser', 'ofUser', 'ofWallet'],
    ['ofWallet', 'ofWallet', 'ofUser'],
    ['ofWallet', 'ofUser', 'ofUser'],
  ] as const) {
    const { id } = await makeBounty(market)
    const [one, two] = [await makers[first](), await makers[second]()]
    for (const { apiKey } of [one, two]) expect((await claim(id, apiKey)).status).toBe(201)
    const { apiKey } = await makers[third]()
    rejected(await claim(id, apiKey), 409, 'owner_claims_full')
    rejected(await claim(id, one.apiKey), 409, 'already_claimed')
    expect((await claim(id, (await makeOwnedAgent(market)).apiKey)).status).toBe(201)
    await withdraw(id, one.apiKey)
    expect((await claim(id, apiKey)).status).toBe(201)
  }
})

test('201: a message of 500 characters, 400: one of 501, and control characters', async () => {
  const message = 'é'.repeat(500)
  const { id } = await makeBounty(market)
  const { apiKey } = await makeOwnedAgent(market)
  for (const wrong of [`${message}é`, 'a\u0000b', 7, null])
    invalid(await claim(id, apiKey, { message: wrong }), 'message')
  expect((await claim(id, apiKey, { message })).body.data.message).toBe(message)
  invalid(await claim('bounty_1', apiKey), 'bounty_id')
})

test('400: own_bounty for the posting agent, its owner’s agents, and an agent of the poster’s account or wallets', async () => {
  const [linked, owning, other] = [evmSigner(), evmSigner(), evmSigner()]
  const { token } = await makeUser(market, { wallets: [linked.address, owning.address] })
  const ofWallet = await makeOwnedAgent(market, {}, owning)
  const ofAccount = await makeAgent(market, { idp_access_token: token })
  const cosigned = async () => ({
    client_wallet: other.address,
    ...(await signed(other, `bounties.create:${other.address}`)),
  })
  const posted = [
    (await makeBounty(market, {}, owning)).id,
    (await makeBounty(market, {}, linked)).id,
    await postAs(market, { bearer: token }, { client_wallet: linked.address }),
    // The wallet that is named belongs to nobody, but the account that posts has the agents.
    await postAs(market, { bearer: token }, await cosigned()),
    await postAs(market, { bearer: ofAccount.apiKey }, await cosigned()),
    await postAs(market, { bearer: ofWallet.apiKey }, await cosigned()),
  ]
  for (const id of posted)
    for (const { apiKey } of [ofWallet, ofAccount]) rejected(await claim(id, apiKey), 400, 'own_bounty')
})

test('403: an agent without a verified owner, a user, the wallet of an owner, and an operator’s key', async () => {
  const { id } = await makeBounty(market)
  const reply = await claim(id, (await makeAgent(market)).apiKey)
  rejected(reply, 403, 'owner_not_verified')
  expect(reply.body.error).toContain('owner_wallet')
  for (const bearer of [(await makeUser(market)).token, ADMIN_KEY])
    rejected(await claim(id, bearer), 403, 'wrong_credential')
  const { owner } = await makeOwnedAgent(market)
  const headers = await signOnce(market, owner, 'session')
  rejected(await market.client().post(claimPath(id), {}, { headers }), 403, 'wrong_credential')
  expect((await market.client().get(`/api/bounties/${id}`)).body.data.pending_claims).toBe(0)
})

test('404: a missing bounty', async () => {
  const { apiKey } = await makeOwnedAgent(market)
  for (const id of ['bnty_1', NO_BOUNTY]) rejected(await claim(id, apiKey), 404, 'bounty_not_found')
})

test('409: a second claim of the agent, and the 21st pending claim of the bounty', async () => {
  const { id } = await makeBounty(market)
  const agents = []
  for (let n = 0; n < 21; n++) agents.push(await makeOwnedAgent(market))
  const [first, ...others] = agents
  const last = others.pop()
  if (first === undefined || last === undefined) throw new Error('there are 21 agents')
  expect((await claim(id, first.apiKey)).status).toBe(201)
  const again = await claim(id, first.apiKey)
  rejected(again, 409, 'already_claimed')
  expect(again.body.error).toContain('already claimed this bounty')
  for (const { apiKey } of others) expect((await claim(id, apiKey)).status).toBe(201)
  rejected(await claim(id, last.apiKey), 409, 'bounty_full')
  rejected(await claim(id, first.apiKey), 409, 'already_claimed')
  await withdraw(id, first.apiKey)
  expect((await claim(id, last.apiKey)).status).toBe(201)
  expect((await market.client().get(`/api/bounties/${id}`)).body.data.pending_claims).toBe(20)
})

test('409: a bounty that was cancelled or has expired', async () => {
  const { id, sign } = await makeBounty(market)
  const { apiKey } = await makeOwnedAgent(market)
  const headers = await sign(`bounties.cancel:${id}`)
  await market.client().patch(`/api/bounties/${id}`, { status: 'cancelled' }, { headers })
  rejected(await claim(id, apiKey), 409, 'bounty_not_open')
  const late = await makeBounty(market)
  await makeClaim(market, late.id)
  await market.advance(30 * DAY)
  rejected(await claim(late.id, apiKey), 409, 'bounty_not_open')
})
