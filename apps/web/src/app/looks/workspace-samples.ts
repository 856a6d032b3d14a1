import type { OrderPage } from '../order/order-page.ts'
import { ORDER_PAGES } from './order-samples.ts'
import { FIXED, HASH, LONG, NOW } from './samples.ts'

/** A workspace in every state, for everybody who sees it. A test parses each by the contract. */

type Order = OrderPage['order']
type Generation = OrderPage['generations'][number]

const at = (hoursAgo: number): string => new Date(NOW - hoursAgo * 3_600_000).toISOString()

/** What the workspaces are subscribed to. */
export const SUBSCRIPTION: typeof FIXED = {
  ...FIXED,
  title: 'A picture for each post',
  price_type: 'weekly',
  price_usd: '12.00',
  quota_limit: 50,
}

const GENERATION: Generation = {
  ...{ id: 'dlv_1', prompt: 'A fish on a bicycle, flat colours.', status: 'pending', deliverable: null },
  ...{ failure: null, deadline: at(-0.15), created_at: at(0.02), ended_at: null },
}
const item = { content: null, media_type: null, sha256: null, title: null }
const ended = { status: 'completed', ended_at: at(3), created_at: at(3.1) } as const

const GENERATIONS: readonly Generation[] = [
  GENERATION,
  { ...GENERATION, id: 'dlv_2', deadline: at(0.01), created_at: at(0.18), prompt: LONG },
  {
    ...{ ...GENERATION, ...ended, id: 'dlv_3', prompt: 'The same in black and white.\nNo shadows.' },
    deliverable: { ...item, type: 'image', url: 'https://files.example/upl_1/fish.png', title: 'fish.png' },
  },
  {
    ...{ ...GENERATION, ...ended, id: 'dlv_4', prompt: 'A caption for it.' },
    deliverable: { ...item, type: 'text', url: null, content: LONG, title: 'Caption' },
  },
  {
    ...GENERATION,
    ...ended,
    id: 'dlv_5',
    status: 'failed',
    failure: LONG,
    prompt: 'A portrait of my neighbour.',
  },
]
const ANSWERED = GENERATIONS.slice(2)

const QUOTA: Partial<Order> = {
  ...{ service_title: SUBSCRIPTION.title, price_type: 'weekly', price_usd: '12.00', agent_usd: '10.80' },
  ...{ fee_usd: '1.20', quota_total: 50, quota_used: 0, quota_failed: 0, deliver_by: null },
}
const PAID: Partial<Order> = { ...QUOTA, paid_at: at(40), workspace_ends_at: at(-128) }
const USED: Partial<Order> = { ...PAID, quota_used: 12, quota_failed: 1 }
const OVER: Partial<Order> = { ...USED, workspace_ends_at: at(0.05) }

interface Variant {
  readonly name: string
  /** The state of `order-samples.ts` that it is in. */
  readonly like: string
  readonly order: Partial<Order>
  readonly generations?: readonly Generation[]
}

const VARIANTS: readonly Variant[] = [
  { name: 'to be paid', like: 'quoted', order: { ...QUOTA, quote_message: null } },
  { name: 'confirming', like: 'accepted, confirming', order: QUOTA },
  { name: 'open, nothing requested', like: 'in_progress', order: PAID },
  { name: 'open', like: 'in_progress', order: USED, generations: GENERATIONS },
  {
    ...{ name: 'all requested', like: 'in_progress', generations: GENERATIONS },
    order: { ...USED, quota_used: 50 },
  },
  { name: 'over, one waits', like: 'in_progress', order: OVER, generations: GENERATIONS },
  { name: 'over', like: 'in_progress', order: OVER, generations: ANSWERED },
  { name: 'contested', like: 'contested', order: USED, generations: GENERATIONS },
  {
    ...{ name: 'ended', like: 'delivered', generations: ANSWERED },
    order: { ...OVER, agent_usd: '9.96', fee_usd: '1.11' },
  },
  { name: 'disputed', like: 'disputed', order: OVER, generations: ANSWERED },
  { name: 'settled', like: 'completed', order: { ...OVER, quota_failed: 0 }, generations: ANSWERED },
  {
    ...{ name: 'settled by count', like: 'completed, split', generations: ANSWERED },
    order: { ...OVER, agent_usd: '9.96', fee_usd: '1.11' },
  },
  { name: 'refunded', like: 'cancelled', order: { ...OVER, quota_used: 0, quota_failed: 3 } },
]

const ROLES = ['buyer', 'provider', 'owner', 'arbiter'] as const

const actsOfWorkspace = ({ acts }: OrderPage, { like }: Variant): OrderPage['acts'] =>
  // Nobody delivers a workspace, and the agent alone cancels it.
  like === 'in_progress' ? acts.filter(({ action }) => action === 'cancel') : acts

export const WORKSPACE_PAGES: readonly (readonly [name: string, page: OrderPage])[] = VARIANTS.flatMap(
  (variant) =>
    ROLES.map((role): readonly [string, OrderPage] => {
      const known = ORDER_PAGES.find(([name]) => name === `${variant.like}, ${role}`)
      if (known === undefined) throw new Error(`${variant.like} is no state of an order`)
      const [, page] = known
      return [
        `${variant.name}, ${role}`,
        {
          ...{ ...page, generations: [...(variant.generations ?? [])], acts: actsOfWorkspace(page, variant) },
          ...{ deliverables: [], deliveries: [], order: { ...page.order, ...variant.order } },
          steps: page.steps.filter(({ kind }) => kind !== 'delivery'),
        },
      ]
    }),
)

export const LISTED_WORKSPACES = WORKSPACE_PAGES.filter(([name]) => name.endsWith(', buyer')).map(
  ([, { order, agent }], n) => {
    const { payment: _, ...listed } = order
    return { ...listed, id: `ord_${n}`, agent, escrow_tx_hash: HASH }
  },
)
