import { operations } from '@market/contract/operations'
import { DAY, HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { acceptancesOf, acceptPath, someHash } from '../support/acceptances.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import {
  BOUNTY,
  claimPath,
  ESCROW,
  makeBounty,
  makeClaim,
  NO_BOUNTY,
  NO_CLAIM,
  postAs,
} from '../support/bounties.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed, signOnce } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { orderOf } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

let world: OrderWorld
let market: Market
let poster: Awaited<ReturnType<typeof acceptancesOf>>
let buyer: (typeof poster)['buyer']
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
  poster = await acceptancesOf(world)
  buyer = poster.buyer
})
afterAll(() => world.stop())

commonWriteErrors({
  market: () => market,
  operation: operations.acceptClaim,
  good: async () => {
    const agent = await makeOwnedAgent(market, {}, buyer)
    const ask = { bearer: agent.apiKey }
    const claim = await makeClaim(market, await postAs(market, ask, { client_wallet: buyer.address }))
    return { path: acceptPath(claim.bountyId), body: poster.bodyOf(claim, await poster.escrow()), ask }
  },
  // A transfer that nobody has seen is waited for, and the other one can win.
  other: (call) => ({ ...call, body: { ...(call.body as object), escrow_tx_hash: someHash() } }),
})

test('200: creates a paid order, rejects the other claims and emits an event to each claimant', async () => {
  const { bounty, claim: lost } = await poster.makeClaimed()
  const winner = await makeOwnedAgent(market)
  const won = await makeClaim(market, bounty.id, winner)
  const hash = await poster.escrow()
  const { status, body } = await poster.accept(won, hash)
  expect(status).toBe(200)
  const { order_id } = body.data
  expect(body).toEqual({ success: true, data: { bounty_id: bounty.id, order_id, claim_id: won.id } })
  const read = await market.client().get(`/api/orders/${order_id}`, { headers: await buyer.headers() })
  const { order, viewer_role } = read.body.data
  const instant = expect.stringMatching(INSTANT)
  expect(viewer_role).toBe('buyer')
  expect(order).toEqual(
    orderOf(
      { id: order_id, serviceId: null, agentId: winner.id },
      {
        ...{ bounty_id: bounty.id, service_title: BOUNTY.title, brief: BOUNTY.brief, status: 'paid' },
        ...{
          price_usd: '22.00',
          agent_usd: '20.00',
          fee_usd: '2.00',
          turnaround_hours: 24,
          client_wallet: buyer.address,
          payment: [],
        },
        ...{ payment_method: 'bounty', payment_network: 'base-mainnet', escrow_tx_hash: hash },
        ...{ paid_at: instant, deliver_by: instant },
      },
    ),
  )
  expect(Date.parse(order.deliver_by) - Date.parse(order.paid_at)).toBe(24 * HOUR)
  expect(await poster.eventsOf(winner.apiKey)).toMatchObject([
    {
      event: 'bounty.accepted',
      order_id,
      data: { bounty_id: bounty.id, brief: BOUNTY.brief, budget_usd: '20.00', deadline_hours: 24 },
    },
  ])
  expect(await poster.eventsOf(lost.agent.apiKey)).toMatchObject([
    { event: 'bounty.claim_rejected', data: { bounty_id: bounty.id } },
  ])
  const headers = await signOnce(market, winner.owner, 'session')
  const { data } = (await market.client().get('/api/notifications', { headers })).body
  const about = { bounty_id: bounty.id, claim_id: won.id }
  expect(data).toMatchObject([{ kind: 'bounty.accepted', data: about }])
})

test('200: the same transfer again returns the same order, also in another letter case', async () => {
  const { claim } = await poster.makeClaimed()
  const hash = await poster.escrow()
  const first = await poster.accept(claim, hash)
  const again = await poster.accept(claim, `0x${hash.slice(2).toUpperCase()}`, {
    payment_network: 'base-mainnet',
  })
  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.body).toEqual(first.body)
})

test('200: by a user with a linked wallet, and by one with a wallet that signs too', async () => {
  const linked = await makeUser(market, { wallets: [buyer.address] })
  const ask = { bearer: linked.token }
  const claim = await makeClaim(market, await postAs(market, ask, { client_wallet: buyer.address }))
  expect((await poster.acceptWith(claim, poster.bodyOf(claim, await poster.escrow()), ask)).status).toBe(200)

  const payer = await world.newBuyer()
  const other = { bearer: (await makeUser(market)).token }
  const proof = await payer.proof(`bounties.create:${payer.address}`)
  const posted = await postAs(market, other, { client_wallet: payer.address, ...proof })
  const wanted = await makeClaim(market, posted)
  const fields = { client_wallet: payer.address }
  const body = poster.bodyOf(wanted, await world.settled(payer, ESCROW), fields)
  rejected(await poster.acceptWith(wanted, body, other), 400, 'wallet_not_proven', {
    details: [expect.anything()],
  })
  const signedToo = { ...body, ...(await payer.proof(`bounties.accept:${posted}:${wanted.id}`)) }
  expect((await poster.acceptWith(wanted, signedToo, other)).status).toBe(200)
})

test('200: by the API key of an agent whose owner’s wallet paid; the payout waits until that wallet signs', async () => {
  const agent = await makeOwnedAgent(market, {}, buyer)
  const ask = { bearer: agent.apiKey }
  const claim = await makeClaim(market, await postAs(market, ask, { client_wallet: buyer.address }))
  const hash = await poster.escrow()
  const { status, body } = await poster.acceptWith(claim, poster.bodyOf(claim, hash), ask)
  expect(status).toBe(200)
  const path = `/api/orders/${body.data.order_id}`
  const { order } = (await market.client().get(path, ask)).body.data
  expect(order).toMatchObject({ status: 'paid', payer_proven: false })
  expect(Date.parse(order.payout_waits_until) - Date.parse(order.created_at)).toBe(7 * DAY)
  const proof = await buyer.proof(`orders.pay:${body.data.order_id}`)
  const confirmed = await market.client().patch(path, { action: 'pay', escrow_tx_hash: hash, ...proof })
  expect(confirmed.body.data).toMatchObject({ payer_proven: true })
})

test('200: more than is due is returned when it is above 0.10 USD', async () => {
  const { claim } = await poster.makeClaimed()
  expect((await poster.accept(claim, await poster.escrow(ESCROW + 1_000_000n))).status).toBe(200)
  expect(await poster.surplus()).toEqual([1_000_000n])
})

test('202: a transfer that is not confirmed is waited for, without an order', async () => {
  const { bounty, claim } = await poster.makeClaimed()
  const hash = someHash()
  for (const _ of ['first', 'again']) {
    const { status, body } = await poster.accept(claim, hash)
    expect(status).toBe(202)
    expect(body).toEqual({
      success: true,
      data: { bounty_id: bounty.id, order_id: null, claim_id: claim.id },
    })
  }
  const { data } = (await market.client().get(`/api/bounties/${bounty.id}`)).body
  expect(data).toMatchObject({ status: 'open', pending_claims: 1 })
})

test('400: a transfer that is too small, from another wallet, older than the bounty, or no hash; it stays unused', async () => {
  const old = await poster.escrow()
  await world.advance(120_000)
  const { bounty, claim } = await poster.makeClaimed()
  rejected(await poster.accept(claim, await poster.escrow(ESCROW - 1n)), 400, 'underpaid')
  rejected(
    await poster.accept(claim, await world.settled(await world.newBuyer(), ESCROW)),
    400,
    'wrong_payer',
  )
  rejected(await poster.accept(claim, old), 400, 'too_old')
  rejected(await poster.accept(claim, '0x1234'), 400, 'bad_reference')
  expect(await poster.refundsOf(bounty.id)).toEqual([])
  expect((await poster.accept(claim, await poster.escrow())).status).toBe(200)
})

test('400: network_not_accepted when the agent cannot be paid on the network', async () => {
  const { token } = await makeUser(market)
  const unpayable = await makeAgent(market, { idp_access_token: token })
  const { id } = await makeBounty(market, {}, buyer)
  const claim = await makeClaim(market, id, unpayable)
  rejected(await poster.accept(claim, await poster.escrow()), 400, 'network_not_accepted')
  expect(await poster.refundsOf(id)).toEqual([])
})

test('400: own_bounty when the wallet of the agent’s owner was linked to the poster’s account after the claim', async () => {
  const [first, second] = [await world.newBuyer(), await world.newBuyer()]
  const { sub, token } = await makeUser(market, { wallets: [first.address] })
  const posted = await postAs(market, { bearer: token }, { client_wallet: first.address })
  const claim = await makeClaim(market, posted, await makeOwnedAgent(market, {}, second))
  const linked = await makeUser(market, { sub, wallets: [first.address, second.address] })
  for (const payer of [first, second]) {
    const fields = { client_wallet: payer.address }
    const body = poster.bodyOf(claim, await world.settled(payer, ESCROW), fields)
    rejected(await poster.acceptWith(claim, body, { bearer: linked.token }), 400, 'own_bounty')
  }
  expect(await poster.refundsOf(posted)).toEqual([])
})

test('400: names each field that is missing or invalid', async () => {
  const { claim } = await poster.makeClaimed()
  const hash = someHash()
  const ask = { bearer: (await makeOwnedAgent(market)).apiKey }
  const wrong = (fields: Record<string, unknown>) =>
    poster.acceptWith(claim, poster.bodyOf(claim, hash, fields), ask)
  for (const field of ['claim_id', 'client_wallet', 'escrow_tx_hash'])
    invalid(await wrong({ [field]: undefined }), field)
  invalid(await wrong({ claim_id: 'claim_1' }), 'claim_id')
  invalid(await wrong({ client_wallet: 'mine' }), 'client_wallet')
  invalid(await wrong({ escrow_tx_hash: '' }), 'escrow_tx_hash')
  invalid(await wrong({ escrow_tx_hash: 'x'.repeat(101) }), 'escrow_tx_hash')
  invalid(await wrong({ payment_network: 'base' }), 'payment_network')
  rejected(await wrong({}), 400, 'wallet_not_proven', { details: [expect.anything()] })
})

test('401: a signature that is expired, from the future, for another claim or another action', async () => {
  const { bounty, claim } = await poster.makeClaimed()
  const purpose = `bounties.accept:${bounty.id}:${claim.id}`
  const by = (proof: Parameters<typeof asHeaders>[0]) =>
    poster.acceptWith(claim, poster.bodyOf(claim, someHash()), { headers: asHeaders(proof) })
  for (const [code, proof] of await badSignatures(await solanaSigner(), purpose, Date.now()))
    rejected(await by(proof), 401, code)
  const others = ['session', `bounties.accept:${bounty.id}:${NO_CLAIM}`, `bounties.cancel:${bounty.id}`]
  for (const other of others)
    rejected(await by(await signed(buyer, other)), 401, 'bad_signature', { expected_purpose: purpose })
})

test('403: another user, wallet or agent, an agent of the poster, and an operator’s key', async () => {
  const { claim } = await poster.makeClaimed()
  const ofPoster = await makeOwnedAgent(market, {}, buyer)
  rejected(
    await poster.acceptWith(claim, poster.bodyOf(claim, someHash()), { bearer: ofPoster.apiKey }),
    403,
    'not_your_bounty',
  )
  const wallet = evmSigner()
  const other = { client_wallet: wallet.address }
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const owned = await makeOwnedAgent(market, {}, wallet)
  const headers = await signOnce(market, wallet, `bounties.accept:${claim.bountyId}:${claim.id}`)
  for (const ask of [{ bearer: token }, { bearer: owned.apiKey }, { headers }])
    rejected(
      await poster.acceptWith(claim, poster.bodyOf(claim, someHash(), other), ask),
      403,
      'not_your_bounty',
    )
  rejected(
    await poster.acceptWith(claim, poster.bodyOf(claim, someHash()), { bearer: ADMIN_KEY }),
    403,
    'wrong_credential',
  )
})

test('404: a missing bounty, a missing claim, and a claim on another bounty', async () => {
  const { bounty } = await poster.makeClaimed()
  const elsewhere = await poster.makeClaimed()
  for (const bountyId of ['bnty_1', NO_BOUNTY])
    rejected(await poster.accept({ id: NO_CLAIM, bountyId }, someHash()), 404, 'bounty_not_found')
  for (const id of ['bcl_1', NO_CLAIM, elsewhere.claim.id])
    rejected(await poster.accept({ id, bountyId: bounty.id }, someHash()), 404, 'claim_not_found')
})

test('409: a bounty that is claimed or cancelled; the whole transfer is refunded once', async () => {
  const payee = buyer.address.toLowerCase()
  const taken = await poster.makeClaimed()
  const second = await makeClaim(market, taken.bounty.id)
  expect((await poster.accept(taken.claim, await poster.escrow())).status).toBe(200)
  const late = await poster.escrow(ESCROW + 5_000_000n)
  rejected(await poster.accept(second, late), 409, 'bounty_not_open')
  rejected(await poster.accept(second, late), 409, 'transfer_refunded')
  expect(await poster.refundsOf(taken.bounty.id)).toEqual([[payee, ESCROW + 5_000_000n]])

  const { bounty, claim } = await poster.makeClaimed()
  const headers = await bounty.sign(`bounties.cancel:${bounty.id}`)
  await market.client().patch(`/api/bounties/${bounty.id}`, { status: 'cancelled' }, { headers })
  rejected(await poster.accept(claim, await poster.escrow()), 409, 'bounty_not_open')
  expect(await poster.refundsOf(bounty.id)).toEqual([[payee, ESCROW]])
})

test('409: a claim that was withdrawn; the transfer stays unused and accepts another claim', async () => {
  const { bounty, claim } = await poster.makeClaimed()
  const other = await makeClaim(market, bounty.id)
  await market.client().send('DELETE', claimPath(bounty.id), { bearer: claim.agent.apiKey })
  const hash = await poster.escrow()
  rejected(await poster.accept(claim, hash), 409, 'claim_not_pending')
  expect(await poster.refundsOf(bounty.id)).toEqual([])
  expect((await poster.accept(other, hash)).status).toBe(200)
})

test('409: transfer_used when the transfer paid something else, or is named for another claim of the bounty', async () => {
  const [one, two] = [await poster.makeClaimed(), await poster.makeClaimed()]
  const hash = await poster.escrow()
  expect((await poster.accept(one.claim, hash)).status).toBe(200)
  rejected(await poster.accept(two.claim, hash), 409, 'transfer_used')
  expect(await poster.refundsOf(two.bounty.id)).toEqual([])
  const [pending, other] = [someHash(), await makeClaim(market, two.bounty.id)]
  expect((await poster.accept(two.claim, pending)).status).toBe(202)
  rejected(await poster.accept(other, pending), 409, 'transfer_used')
})
