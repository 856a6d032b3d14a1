import type { Message, OrderAct, OrderPage } from '../order/order-page.ts'
import { ADDRESS, AGENT, HASH, LONG, NOW, PURCHASE } from './samples.ts'

/** An order in every state, for everybody who sees it. A test parses each by the contract. */

type Order = OrderPage['order']
type Role = OrderPage['viewer_role']
type Action = OrderAct['action']
type Step = OrderPage['steps'][number]

const at = (hoursAgo: number): string => new Date(NOW - hoursAgo * 3_600_000).toISOString()

const field = (name: string, max: number, type: OrderAct['fields'][number]['type'] = 'string') =>
  ({ name, type, required: true, min: 1, max, values: null, instead_of: null }) as const

const FIELDS: Partial<Readonly<Record<Action, OrderAct['fields']>>> = {
  revision: [field('feedback', 2_000)],
  dispute: [field('reason', 2_000)],
  review: [field('rating', 5, 'number'), { ...field('comment', 500), required: false }],
  quote: [field('price_usd', 20), { ...field('message', 2_000), required: false }],
  deliver: [{ ...field('deliverable_url', 2_048), required: false }],
}

const actOf = (action: Action, until: string | null): OrderAct => ({
  ...{ action, until, why_not: null, fields: FIELDS[action] ?? [] },
  operation:
    action === 'quote'
      ? 'quoteOrder'
      : action === 'deliver'
        ? 'deliverOrder'
        : action === 'review'
          ? 'createReview'
          : 'actOnOrder',
})

const STEP: Step = {
  ...{ at: at(50), kind: 'status', action: 'create', by: 'buyer', status: 'quoted', files: null },
  ...{ amount_usd: null, network: null, tx_hash: null, final: null },
}
const MONEY: Step = {
  ...{ ...STEP, kind: 'payment', action: null, by: null, status: null, at: at(49), amount_usd: '25.00' },
  ...{ network: 'base-mainnet', tx_hash: HASH, final: true },
}
const item = { content: null, media_type: null, sha256: 'ab'.repeat(32), title: null }
const DELIVERY: OrderPage['deliveries'][number] = {
  ...{ n: 1, at: at(17), note: 'Thicker strokes.' },
  deliverables: [
    { ...item, type: 'image', url: 'https://files.example/upl_1/logo-colour.png' },
    { ...item, type: 'link', url: 'https://elsewhere.example/sheet', title: LONG.slice(0, 200) },
    {
      ...item,
      type: 'code',
      url: null,
      sha256: null,
      content: '{ "brand": "#5b3a29" }',
      title: 'colours.json',
    },
  ],
}
const DELIVERED: Step = {
  ...MONEY,
  kind: 'delivery',
  at: at(17),
  amount_usd: null,
  network: null,
  tx_hash: null,
  final: null,
  files: 3,
}

const ORDER: Order = {
  ...PURCHASE.order,
  ...{ service_title: 'Logo for a shop', status: 'quoted', payment_method: null, pending_tx_hash: null },
  ...{
    price_usd: '25.00',
    agent_usd: '22.50',
    fee_usd: '2.50',
    turnaround_hours: 24,
    client_wallet: ADDRESS,
  },
  ...{
    payment_network: null,
    requirement_answers: { Sells: 'Sourdough bread and cakes', [LONG.slice(0, 80)]: LONG },
  },
}
const QUOTED: OrderPage = { ...PURCHASE, order: ORDER, steps: [STEP] }
const PAID: OrderPage = {
  ...{ ...QUOTED, payment_final: true, steps: [STEP, MONEY] },
  order: {
    ...{ ...ORDER, status: 'paid', paid_at: at(49), deliver_by: at(-14), escrow_tx_hash: HASH },
    payment_network: 'base-mainnet',
  },
}
const variant = (page: OrderPage, order: Partial<Order>, more: Partial<OrderPage> = {}): OrderPage => ({
  ...page,
  ...more,
  order: { ...page.order, ...order },
})
const DONE = variant(
  PAID,
  { status: 'delivered', delivered_at: at(17), review_ends_at: at(-31), revision_count: 1 },
  { deliveries: [DELIVERY], deliverables: DELIVERY.deliverables, steps: [STEP, MONEY, DELIVERED] },
)
const CLOSED = { status: 'completed', outcome: 'released', closed_at: at(2), review_ends_at: null } as const
const SENT: NonNullable<OrderPage['refund']> = {
  ...{ status: 'sent', amount_usd: '25.00', network: 'base-mainnet', tx_hash: HASH, hold_code: null },
  ...{ held_until: null, reason: null },
}
const HELD: NonNullable<OrderPage['payout']> = {
  ...{ ...SENT, status: 'held', amount_usd: '22.50', tx_hash: null, hold_code: 'contest_window' },
  ...{ held_until: at(-120), reason: 'Its payer is not proven.' },
}
const PENDING = {
  tx: HASH,
  network: 'base-mainnet',
  confirmations: 7,
  required: 12,
  seen_at: at(0.01),
} as const

/** What each side may do; the clock is that of the buyer. */
interface Variant {
  readonly name: string
  readonly page: OrderPage
  readonly buyer: readonly Action[]
  readonly agent: readonly Action[]
  readonly until: string | null
}

const VARIANTS: readonly Variant[] = [
  {
    ...{ name: 'pending_quote', buyer: ['cancel'], agent: ['quote', 'cancel'], until: null },
    page: variant(QUOTED, { status: 'pending_quote', price_usd: null, agent_usd: null, fee_usd: null }),
  },
  {
    ...{ name: 'quoted', buyer: ['pay', 'accept', 'cancel'], agent: ['cancel'], until: at(-70) },
    page: variant(QUOTED, { price_until: at(-70), quote_message: 'Two days of work.' }),
  },
  {
    ...{ name: 'accepted, confirming', buyer: ['cancel'], agent: ['cancel'], until: null },
    page: variant(QUOTED, { status: 'accepted', pending_tx_hash: HASH }, { pending_payment: PENDING }),
  },
  {
    ...{ name: 'accepted, reversed', buyer: [], agent: [], until: at(-1) },
    page: variant(
      QUOTED,
      {
        status: 'accepted',
        pending_tx_hash: HASH,
        payment_error:
          'A reorganization of the chain removed the transfer that paid this order. Do not pay again yet.',
      },
      { pending_payment: { ...PENDING, confirmations: null } },
    ),
  },
  {
    ...{ name: 'accepted, failed', buyer: ['pay', 'cancel'], agent: ['cancel'], until: null },
    page: variant(QUOTED, { status: 'accepted', payment_error: LONG }),
  },
  {
    ...{ name: 'paid', buyer: ['cancel'], agent: ['start', 'deliver', 'cancel'], until: at(-38) },
    page: PAID,
  },
  {
    ...{ name: 'in_progress', buyer: [], agent: ['deliver', 'cancel'], until: at(-38) },
    page: variant(PAID, { status: 'in_progress' }),
  },
  {
    ...{ name: 'in_progress, late', buyer: ['cancel'], agent: ['deliver'], until: at(-21) },
    page: variant(PAID, { status: 'in_progress', deliver_by: at(3) }),
  },
  {
    ...{ name: 'delivered', buyer: ['approve', 'revision', 'dispute'], agent: ['deliver'], until: at(-31) },
    page: DONE,
  },
  {
    ...{ name: 'revision_requested', buyer: [], agent: ['deliver', 'decline_revision'], until: at(-46) },
    page: variant(DONE, {
      status: 'revision_requested',
      complaint: LONG,
      review_ends_at: null,
      deliver_by: at(-22),
    }),
  },
  {
    ...{ name: 'disputed', buyer: ['approve'], agent: ['deliver', 'refund'], until: null },
    page: variant(DONE, { status: 'disputed', complaint: 'It is another logo.', review_ends_at: null }),
  },
  {
    ...{ name: 'contested', buyer: [], agent: [], until: null },
    page: variant(PAID, { contested_at: at(20), contest_ends_at: at(-148), payer_proven: false }),
  },
  {
    ...{ name: 'completed', buyer: ['review'], agent: [], until: null },
    page: variant(DONE, CLOSED, { agent_paid: true, payout: { ...SENT, amount_usd: '22.50' } }),
  },
  {
    ...{ name: 'completed, payout held', buyer: ['review'], agent: [], until: null },
    page: variant(DONE, CLOSED, { payout: HELD }),
  },
  {
    ...{ name: 'completed, split', buyer: [], agent: [], until: null },
    page: variant(
      DONE,
      { ...CLOSED, outcome: 'split', agent_usd: '13.50', fee_usd: '1.50' },
      { refund: { ...SENT, amount_usd: '10.00' } },
    ),
  },
  {
    ...{ name: 'cancelled', buyer: [], agent: [], until: null },
    page: variant(PAID, { ...CLOSED, status: 'cancelled', outcome: 'refunded' }, { refund: SENT }),
  },
  {
    ...{ name: 'cancelled, unpaid', buyer: [], agent: [], until: null },
    page: variant(QUOTED, { ...CLOSED, status: 'cancelled', outcome: 'unpaid' }),
  },
]

const ROLES: readonly Role[] = ['buyer', 'provider', 'owner', 'arbiter']

/** Every state for every viewer. An agent and its owner see the same, and the buyer no payout. */
export const ORDER_PAGES: readonly (readonly [name: string, page: OrderPage])[] = VARIANTS.flatMap(
  ({ name, page, buyer, agent, until }) =>
    ROLES.map((viewer_role): readonly [string, OrderPage] => {
      const actions = viewer_role === 'buyer' ? buyer : viewer_role === 'arbiter' ? [] : agent
      const acts = actions.map((action) => actOf(action, until))
      const payout = viewer_role === 'buyer' ? null : page.payout
      return [`${name}, ${viewer_role}`, { ...page, viewer_role, acts, payout }]
    }),
)

const message: Message = {
  ...{ id: 'msg_1', order_id: 'ord_1', sender_type: 'client', sender_name: 'ana' },
  ...{ content: 'Will the small one also work as a stamp?', created_at: at(25) },
}
export const MESSAGES: readonly Message[] = [
  message,
  {
    ...message,
    id: 'msg_2',
    sender_type: 'agent',
    sender_name: AGENT.name,
    content: LONG,
    created_at: at(24),
  },
]

export const LISTED_ORDERS = VARIANTS.map(({ page: { order } }, n) => {
  const { payment: _, ...listed } = order
  return { ...listed, id: `ord_${n}`, agent: AGENT }
})
