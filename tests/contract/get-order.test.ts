import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DELIVERY, type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'
import { agentOf, makeOrder, NO_ORDER, orderAgain, orderOf } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { auditOf } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

let world: OrderWorld
let parties: Parties
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/orders/${id}`
const read = (id: string, ask: RequestOptions) => world.market.client().get(pathOf(id), ask)

const subject: Subject = {
  market: () => world.market,
  operation: operations.getOrder,
  good: async () => {
    const { id, seller } = await makeOrder(world.market)
    return { path: pathOf(id), ask: { bearer: seller.apiKey } }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(NO_ORDER))

test('200: an unpaid order with its payment options', async () => {
  const { id, seller, service } = await makeOrder(world.market)
  const { status, body } = await read(id, { bearer: seller.apiKey })
  expect(status).toBe(200)
  const payment = [
    {
      network: 'base-mainnet',
      asset: { currency: 'USDC', address: world.chain.usdc },
      pay_to: world.treasury,
      amount: '12500000',
      amount_usd: '12.50',
      // No gas account: signed payments are not accepted.
      requirement: null,
    },
  ]
  expect(body).toEqual({
    success: true,
    data: {
      order: orderOf({ id, serviceId: service.id, agentId: seller.id }, { payment }),
      deliverables: [],
      deliveries: [],
      generations: [],
      review: null,
      ...agentOf(seller),
      acts: expect.any(Array),
      steps: [
        {
          ...{ kind: 'status', action: 'create', by: 'buyer', status: 'quoted' },
          ...{ files: null, amount_usd: null, network: null, tx_hash: null, final: null },
          at: body.data.order.created_at,
        },
      ],
      pending_payment: null,
      payment_final: null,
      agent_paid: false,
      viewer_role: 'provider',
      payout: null,
      refund: null,
      sign: null,
    },
  })
})

test('200: acts of each viewer with fields and bounds, until when, and why not', async () => {
  const id = await world.walk(parties, 'delivered')
  const buyer = await parties.buyer.headers()
  const { data } = (await read(id, { headers: buyer })).body
  const { acts, order } = data
  const actOf = (name: string) => acts.find(({ action }: { action: string }) => action === name)
  expect(acts.map(({ action }: { action: string }) => action).toSorted()).toEqual([
    'accept',
    'approve',
    'cancel',
    'dispute',
    'pay',
    'review',
    'revision',
  ])
  expect(actOf('approve')).toEqual({
    action: 'approve',
    operation: 'actOnOrder',
    fields: [],
    until: order.review_ends_at,
    why_not: null,
  })
  expect(actOf('revision').fields).toEqual([
    { name: 'feedback', type: 'string', required: true, instead_of: null, min: 1, max: 2000, values: null },
  ])
  expect(actOf('review')).toMatchObject({
    operation: 'createReview',
    fields: [
      { name: 'rating', type: 'number', required: true, min: 1, max: 5 },
      { name: 'comment', type: 'string', required: false, max: 500 },
    ],
    why_not: { code: 'order_not_completed' },
  })
  expect(actOf('pay')).toMatchObject({
    fields: [
      { name: 'escrow_tx_hash', required: true },
      { name: 'payment_network', required: false, values: expect.arrayContaining(['base-mainnet']) },
      { name: 'signed_payment', type: 'object', required: false, instead_of: 'escrow_tx_hash' },
    ],
    until: null,
    why_not: { code: 'illegal_transition', message: expect.stringContaining('`delivered`') },
  })
  const ofAgent = (await read(id, { bearer: parties.seller.apiKey })).body.data.acts
  const possible = ofAgent.filter(({ why_not }: { why_not: unknown }) => why_not === null)
  expect(possible.map(({ action }: { action: string }) => action)).toEqual(['deliver'])
  expect((await read(id, { bearer: ADMIN_KEY })).body.data.acts).toEqual([])
})

test('200: the steps of states, money and files; the buyer reads that the agent is paid, not the transfer', async () => {
  const id = await world.walk(parties, 'completed')
  const { data } = (await read(id, { headers: await parties.buyer.headers() })).body
  const shown = data.steps.map(({ kind, action, by, status, files }: Record<string, unknown>) =>
    kind === 'status' ? [action, by, status] : kind === 'delivery' ? [kind, files] : [kind],
  )
  const unordered = (steps: unknown[][]) => steps.map((step) => step.join(' ')).toSorted()
  expect(unordered(shown)).toEqual(
    unordered([
      ['create', 'buyer', 'pending_quote'],
      ['quote', 'agent', 'quoted'],
      ['accept', 'buyer', 'accepted'],
      ['payment'],
      ['pay', 'buyer', 'paid'],
      ['start', 'agent', 'in_progress'],
      ['delivery', 1],
      ['deliver', 'agent', 'delivered'],
      ['approve', 'buyer', 'completed'],
      ['payout'],
    ]),
  )
  const stepOf = (steps: { kind: string }[], kind: string) => steps.find((step) => step.kind === kind)
  expect(stepOf(data.steps, 'payment')).toMatchObject({ amount_usd: '25.00', network: 'base-mainnet' })
  expect(stepOf(data.steps, 'payout')).toMatchObject({ amount_usd: null, tx_hash: null, final: false })
  expect(data).toMatchObject({ payment_final: false, agent_paid: false, pending_payment: null })
  expect(data.order).toMatchObject({ agent_usd: '22.50', fee_usd: '2.50' })
  const ofAgent = (await read(id, { bearer: parties.seller.apiKey })).body.data.steps
  expect(stepOf(ofAgent, 'payout')).toMatchObject({ amount_usd: '22.50', network: 'base-mainnet' })
})

test('200: a step is by the party as which its actor took it, whoever acted for that party', async () => {
  const { buyer, seller } = await world.newParties()
  const { token } = await makeUser(world.market, { wallets: [buyer.address] })
  const cancelledBy = async (credential: (purpose: string) => Promise<RequestOptions>) => {
    const id = await world.walk({ buyer, seller }, 'quoted')
    const ask = await credential(`orders.cancel:${id}`)
    expect((await world.market.client().patch(pathOf(id), { action: 'cancel' }, ask)).status).toBe(200)
    const { steps } = (await read(id, { bearer: seller.apiKey })).body.data
    return steps.find(({ action }: { action: string }) => action === 'cancel').by
  }
  expect(await cancelledBy(async () => ({ bearer: token }))).toBe('buyer')
  expect(await cancelledBy(async (purpose) => ({ headers: await buyer.headers(purpose) }))).toBe('buyer')
  expect(await cancelledBy(async () => ({ bearer: seller.apiKey }))).toBe('agent')
  const byOwner = async (purpose: string) => ({
    headers: asHeaders(await signed(seller.owner, purpose, world.market.now())),
  })
  expect(await cancelledBy(byOwner)).toBe('agent')
})

test('200: pending_payment while a named transfer is waited for', async () => {
  const id = await world.walk(parties, 'quoted')
  const tx = `0x${'a4'.repeat(32)}`
  expect((await world.act(parties.buyer, id, 'pay', { escrow_tx_hash: tx })).status).toBe(202)
  const { data } = (await read(id, { headers: await parties.buyer.headers() })).body
  expect(data.pending_payment).toEqual({
    tx,
    network: 'base-mainnet',
    confirmations: null,
    required: null,
    seen_at: expect.any(String),
  })
  expect(data.payment_final).toBeNull()
})

test('200: viewer_role for each reader; payout is null for the buyer', async () => {
  const id = await world.walk(parties, 'completed')
  const { owner, apiKey } = parties.seller
  const ownerProof = asHeaders(await signed(owner, 'session', world.market.now()))
  const roleOf = async (ask: RequestOptions) => {
    const { data } = (await read(id, ask)).body
    return [data.viewer_role, data.payout?.amount_usd]
  }
  expect(await roleOf({ headers: await parties.buyer.headers() })).toEqual(['buyer', undefined])
  expect(await roleOf({ bearer: apiKey })).toEqual(['provider', '22.50'])
  expect(await roleOf({ headers: ownerProof })).toEqual(['owner', '22.50'])
  expect(await roleOf({ bearer: ADMIN_KEY })).toEqual(['arbiter', '22.50'])
  expect(await roleOf({ bearer: await operatorToken(world.market) })).toEqual(['arbiter', '22.50'])
})

test('200: the deliveries of an order, and its refund', async () => {
  const id = await world.walk(parties, 'disputed')
  expect((await world.byKey(parties.seller.apiKey, id, 'refund')).status).toBe(200)
  const { body } = await read(id, { headers: await parties.buyer.headers() })
  const made = {
    type: 'link',
    url: DELIVERY.deliverable_url,
    content: null,
    media_type: null,
    sha256: null,
    title: null,
  }
  expect(body.data).toMatchObject({
    order: { status: 'cancelled', outcome: 'refunded', payment: [] },
    deliverables: [made],
    deliveries: [{ n: 1, note: null, at: expect.stringMatching(INSTANT), deliverables: [made] }],
    refund: { status: 'queued', amount_usd: '25.00', network: 'base-mainnet', tx_hash: null, reason: null },
  })
})

const makePrivate = ({ service, buyer }: Awaited<ReturnType<typeof makeOrder>>) =>
  orderAgain(world.market, service.id, { bearer: buyer.apiKey }, { private: true })

test('200: an operator’s read of an order or its messages is in the audit log', async () => {
  const open = await makeOrder(world.market)
  const id = await makePrivate(open)
  const session = { bearer: await operatorToken(world.market) }
  for (const ask of [{ bearer: ADMIN_KEY }, session]) {
    for (const order of [id, open.id]) expect((await read(order, ask)).status).toBe(200)
    expect((await world.market.client().get(`${pathOf(id)}/messages`, ask)).status).toBe(200)
  }
  const entry = (act: string, actor: string) => ({ act, actor, details: {} })
  const readers = ['admin_key:ops', `user:${ADMIN_USER}`]
  expect(await auditOf(world.market.db, id)).toEqual(
    readers.flatMap((reader) => [entry('order.read', reader), entry('messages.read', reader)]),
  )
  expect(await auditOf(world.market.db, open.id)).toEqual(
    readers.map((reader) => entry('order.read', reader)),
  )
})

test('200: parties read an order without an audit entry', async () => {
  const made = await makeOrder(world.market)
  const id = await makePrivate(made)
  for (const { apiKey } of [made.seller, made.buyer])
    expect((await read(id, { bearer: apiKey })).status).toBe(200)
  expect(await auditOf(world.market.db, id)).toEqual([])
})

test('400: an invalid id', async () => {
  for (const id of ['ord_', 'order_1']) invalid(await read(id, { bearer: parties.seller.apiKey }), 'order_id')
})

test('403: a credential that cannot read orders', async () => {
  const cookie = `idp-token=${await world.market.idp.token({ sub: 'somebody' })}`
  rejected(await read(NO_ORDER, { headers: { cookie } }), 403, 'cross_site')
})

test('404: the same message for a missing order and an order of other parties', async () => {
  const id = await world.walk(parties, 'quoted')
  const { token } = await makeUser(world.market)
  const { apiKey } = await makeOwnedAgent(world.market)
  for (const unknown of [NO_ORDER, `ord_${'a-'.repeat(250)}`, id]) {
    for (const bearer of [token, apiKey]) {
      const reply = await read(unknown, { bearer })
      rejected(reply, 404, 'order_not_found')
      expect(reply.body.error).toBe(`Order "${unknown}" does not exist.`)
    }
  }
  rejected(await read(NO_ORDER, { bearer: ADMIN_KEY }), 404, 'order_not_found')
})
