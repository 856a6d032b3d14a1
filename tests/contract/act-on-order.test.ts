import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, PRICE, startOrderWorld } from '../orders/order-world.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { makeOrder, NO_ORDER, orderAgain } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'

let world: OrderWorld
let parties: Parties
/** Another order of the same buyer, for a second call that succeeds too. */
let spare = ''
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/orders/${id}`
const act = (id: string, action: string, fields: Record<string, unknown> = {}) =>
  world.act(parties.buyer, id, action, fields)
const byAgent = (id: string, action: string) => world.byKey(parties.seller.apiKey, id, action)

commonWriteErrors({
  market: () => world.market,
  operation: operations.actOnOrder,
  good: async () => {
    const { id, buyer, service } = await makeOrder(world.market)
    const ask = { bearer: buyer.apiKey }
    spare = await orderAgain(world.market, service.id, ask)
    return { path: pathOf(id), body: { action: 'cancel' }, ask }
  },
  other: (call) => ({ ...call, path: pathOf(spare) }),
})

test('200: accept extends the price, and pay sets the status to paid and emits an event to the agent', async () => {
  const id = await world.walk(parties, 'quoted')
  const accepted = await act(id, 'accept')
  expect(accepted.status).toBe(200)
  expect(accepted.body.data).toMatchObject({
    status: 'accepted',
    price_usd: '25.00',
    payment: [{ network: 'base-mainnet', amount: String(PRICE), pay_to: world.treasury }],
  })
  const escrow_tx_hash = await world.settled(parties.buyer)
  const paid = await act(id, 'pay', { escrow_tx_hash })
  expect(paid.status).toBe(200)
  expect(paid.body.data).toMatchObject({
    status: 'paid',
    escrow_tx_hash,
    payment_network: 'base-mainnet',
    payment: [],
  })
  const events = await world.market.client().get('/api/events?limit=100', { bearer: parties.seller.apiKey })
  expect(events.body.data).toContainEqual(
    expect.objectContaining({
      event: 'order.paid',
      order_id: id,
      data: { status: 'paid', service_title: 'Reviews a pull request' },
    }),
  )
})

test('200: returns the same order when the same transfer is sent again in another letter case', async () => {
  const id = await world.walk(parties, 'quoted')
  const hash = await world.settled(parties.buyer)
  const first = await act(id, 'pay', { escrow_tx_hash: hash })
  const again = await act(id, 'pay', { escrow_tx_hash: `0x${hash.slice(2).toUpperCase()}` })
  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.body.data.paid_at).toBe(first.body.data.paid_at)
})

test('200: revision, dispute, approve and cancel by the buyer; start, decline_revision and refund by the agent', async () => {
  const revised = await act(await world.walk(parties, 'delivered'), 'revision', { feedback: 'More blue' })
  expect(revised.body.data).toMatchObject({
    status: 'revision_requested',
    revision_count: 1,
    complaint: 'More blue',
  })
  const declined = await byAgent(revised.body.data.id, 'decline_revision')
  expect(declined.body.data).toMatchObject({ status: 'delivered', complaint: null })
  const disputed = await act(revised.body.data.id, 'dispute', { reason: 'Still not blue' })
  expect(disputed.body.data).toMatchObject({ status: 'disputed', review_ends_at: null })
  const refunded = await byAgent(revised.body.data.id, 'refund')
  expect(refunded.body.data).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
  const started = await byAgent(await world.walk(parties, 'paid'), 'start')
  expect(started.body.data).toMatchObject({ status: 'in_progress' })
  const approved = await act(await world.walk(parties, 'delivered'), 'approve')
  expect(approved.body.data).toMatchObject({ status: 'completed', outcome: 'released' })
  const cancelled = await act(await world.walk(parties, 'paid'), 'cancel')
  expect(cancelled.body.data).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
})

test('400 network_not_accepted: the agent cannot be paid on the network, and the transfer stays unused', async () => {
  const { token } = await makeUser(world.market)
  const agent = await makeAgent(world.market, { idp_access_token: token })
  const service = await makeService(world.market, agent, { price_usd: '25.00' })
  const placed = await world.order(parties.buyer, service.id)
  // Solana, where it has a wallet, is not open here.
  const payableOn = async () =>
    (await world.market.client().get('/api/agents/me', { bearer: agent.apiKey })).body.data.payable_on
  expect(await payableOn()).toEqual([])
  expect(placed.body.data).toMatchObject({ status: 'quoted', payment: [] })
  const id = placed.body.data.id as string
  const escrow_tx_hash = await world.settled(parties.buyer)
  const reply = await act(id, 'pay', { escrow_tx_hash })
  rejected(reply, 400, 'network_not_accepted')
  expect(reply.body.error).toContain('Pay on solana-mainnet')
  expect((await act(id, 'accept')).body.data).toMatchObject({ status: 'accepted', payment: [] })

  const payout_address_base = evmSigner().address.toLowerCase()
  await world.market.db
    .updateTable('agents')
    .set({ payout_address_base })
    .where('id', '=', agent.id)
    .execute()
  expect(await payableOn()).toEqual(['base-mainnet'])
  const { data } = (await world.market.client().get(pathOf(id), { headers: await parties.buyer.headers() }))
    .body
  expect(data.order.payment).toMatchObject([{ network: 'base-mainnet' }])
  expect((await act(id, 'pay', { escrow_tx_hash })).body.data).toMatchObject({ status: 'paid' })
})

test('200: a user pays with a wallet that is not linked and also signs the request', async () => {
  const { token } = await makeUser(world.market)
  const service = await makeService(world.market, parties.seller, { price_usd: '25.00' })
  const ask = { bearer: token }
  const id = await orderAgain(world.market, service.id, ask)
  const escrow_tx_hash = await world.settled(parties.buyer)
  const proof = await parties.buyer.proof(`orders.pay:${id}`)
  const body = { action: 'pay', escrow_tx_hash, ...proof }
  const wrong = { ...body, ...(await parties.buyer.proof('session')) }
  rejected(await world.market.client().patch(pathOf(id), wrong, ask), 401, 'bad_signature', {
    expected_purpose: `orders.pay:${id}`,
  })
  const paid = await world.market.client().patch(pathOf(id), body, ask)
  expect(paid.body.data).toMatchObject({ status: 'paid', escrow_tx_hash })
})

test('202: a transfer that is not final is pending, and the order shows no payment options', async () => {
  const id = await world.walk(parties, 'quoted')
  const unheardOf = `0x${'5'.repeat(64)}`
  const reply = await act(id, 'pay', { escrow_tx_hash: unheardOf })
  expect(reply.status).toBe(202)
  expect(reply.body.data).toMatchObject({
    status: 'accepted',
    pending_tx_hash: unheardOf,
    escrow_tx_hash: null,
    payment: [],
  })
})

test('400: an unknown action, and actions without their required field', async () => {
  const id = await world.walk(parties, 'delivered')
  invalid(await act(id, 'pay'), 'escrow_tx_hash')
  invalid(await act(id, 'revision'), 'feedback')
  invalid(await act(id, 'dispute'), 'reason')
  invalid(await act(id, 'revision', { feedback: 'x'.repeat(2_001) }), 'feedback')
  const ask = { bearer: parties.seller.apiKey }
  for (const action of ['release', 'award', 'quote', '', undefined])
    invalid(await world.market.client().patch(pathOf(id), { action }, ask), 'action')
  invalid(await world.market.client().patch('/api/orders/order_1', { action: 'start' }, ask), 'order_id')
})

test('400: a transfer that is too small, from another wallet, older than the order, or missing', async () => {
  const old = await world.settled(parties.buyer)
  await world.advance(120_000)
  const id = await world.walk(parties, 'quoted')
  const otherUser = await world.newBuyer()
  const pay = (escrow_tx_hash: string) => act(id, 'pay', { escrow_tx_hash })
  rejected(await pay(await world.settled(parties.buyer, PRICE - 1n)), 400, 'underpaid')
  rejected(await pay(await world.settled(otherUser)), 400, 'wrong_payer')
  rejected(await pay(old), 400, 'too_old')
  rejected(await pay('0x1234'), 400, 'bad_reference')
  expect((await pay(await world.settled(parties.buyer))).status).toBe(200)
})

test('400: an action that the status does not allow; the message names the status', async () => {
  const reply = await act(await world.walk(parties, 'quoted'), 'approve')
  rejected(reply, 400, 'illegal_transition')
  expect(reply.body.error).toBe(
    'Cannot approve an order with status `quoted`. Allowed now: accept, pay, cancel.',
  )
})

test('400: revision_included when the price includes the revision', async () => {
  const generous = await world.newParties({ max_revisions: 1 })
  const id = await world.walk(generous, 'revision_requested')
  rejected(await world.byKey(generous.seller.apiKey, id, 'decline_revision'), 400, 'revision_included')
})

test('400: the buyer cancels started work before the deadline', async () => {
  const quick = await world.newParties({ turnaround_hours: 1 })
  const id = await world.walk(quick, 'in_progress')
  rejected(await world.act(quick.buyer, id, 'cancel'), 400, 'not_late_yet')
  await world.advance(3_600_000)
  const late = await world.act(quick.buyer, id, 'cancel')
  expect(late.body.data).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
})

test('401: a signature that is expired, from the future, for another action or another order', async () => {
  const id = await world.walk(parties, 'delivered')
  const patch = (proof: object) => world.market.client().patch(pathOf(id), { action: 'approve', ...proof })
  const purpose = `orders.approve:${id}`
  for (const [code, proof] of await badSignatures(await solanaSigner(), purpose, Date.now()))
    rejected(await patch(proof), 401, code)
  for (const other of [`orders.dispute:${id}`, `orders.approve:${NO_ORDER}`, 'session'])
    rejected(await patch(await parties.buyer.proof(other)), 401, 'bad_signature')
})

test('403: an action of the other party, and an admin key', async () => {
  const id = await world.walk(parties, 'delivered')
  rejected(await byAgent(id, 'approve'), 403, 'not_your_act')
  rejected(await act(id, 'start'), 403, 'not_your_act')
  const reply = await world.byKey(ADMIN_KEY, id, 'approve')
  rejected(reply, 403, 'wrong_credential')
})

test('404: the same message for a missing order and an order of other parties', async () => {
  const id = await world.walk(parties, 'quoted')
  const { token } = await makeUser(world.market)
  const { apiKey, owner } = await makeOwnedAgent(world.market)
  for (const unknown of [NO_ORDER, id]) {
    const headers = asHeaders(await signed(owner, `orders.cancel:${unknown}`, Date.now()))
    for (const ask of [{ bearer: token }, { bearer: apiKey }, { headers }]) {
      const reply = await world.market.client().patch(pathOf(unknown), { action: 'cancel' }, ask)
      rejected(reply, 404, 'order_not_found')
      expect(reply.body.error).toBe(`Order "${unknown}" does not exist.`)
    }
  }
})

test('409: transfer_used when the transfer paid another order', async () => {
  const [one, two] = [await world.walk(parties, 'quoted'), await world.walk(parties, 'quoted')]
  const escrow_tx_hash = await world.settled(parties.buyer)
  expect((await act(one, 'pay', { escrow_tx_hash })).status).toBe(200)
  rejected(await act(two, 'pay', { escrow_tx_hash }), 409, 'transfer_used')
})
