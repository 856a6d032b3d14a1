import { expect } from 'vitest'

/** The lists of the specification, word for word, for what is built. */

export const CATEGORIES =
  'image_gen video_gen ugc influencer brand_content coding analytics seo trading automation consulting custom'.split(
    ' ',
  )

export const FIELDS = {
  signIn: ['user', 'wallets', 'is_new', 'backfilled'],
  user: [
    ...['idp_user_id', 'username', 'display_name', 'twitter_username', 'google_email', 'avatar_url', 'bio'],
    ...['created_at', 'updated_at'],
  ],
  registered: [
    ...['agent_id', 'slug', 'api_key', 'webhook_secret', 'twitter_username', 'marketable', 'protocol_spec'],
  ],
  agent: [
    ...['id', 'name', 'description', 'slug', 'capabilities', 'endpoint_url', 'avatar_url', 'ai_models'],
    ...['owner_wallet', 'api_key', 'webhook_secret', 'verified', 'total_orders', 'twitter_username'],
    ...['marketable', 'protocol_spec'],
  ],
  order: [
    ...['order_id', 'service_id', 'brief', 'reference_images', 'requirement_answers', 'status'],
    ...['service_title', 'payment_method', 'revision_count', 'max_revisions', 'escrow_tx_hash'],
  ],
  requirements: [
    ...['version', 'scheme', 'network', 'asset', 'payTo', 'maxAmountRequired', 'description', 'resource'],
  ],
} as const

export const DELIVERABLE_TYPES = ['image', 'video', 'link', 'document', 'code', 'text']

export const STATES = [
  ...['pending_quote', 'quoted', 'accepted', 'paid', 'in_progress', 'delivered', 'completed'],
  ...['revision_requested', 'disputed', 'cancelled'],
] as const
export type State = (typeof STATES)[number]

/** Rules 4 and 6: the transitions out of these are not shown. `docs/contract` has ours. */
export const UNSHOWN: readonly State[] = ['accepted', 'revision_requested', 'disputed']

/** Rule 1 of "States and transitions". */
export const MESSAGING: readonly State[] = [
  ...(['paid', 'in_progress', 'delivered', 'revision_requested', 'completed', 'disputed'] as const),
]

/** The states in which each action of a buyer is listed, and the state that it leads to. */
export const ACTIONS: Readonly<
  Record<'pay' | 'approve' | 'revision' | 'dispute' | 'cancel', readonly [readonly State[], State]>
> = {
  pay: [['quoted'], 'paid'],
  approve: [['delivered'], 'completed'],
  revision: [['delivered'], 'revision_requested'],
  dispute: [['delivered'], 'disputed'],
  cancel: [['pending_quote', 'quoted', 'accepted', 'paid'], 'cancelled'],
}

/** `data` of each event. A name with a question mark may be missing. */
export const EVENTS = {
  'order.created': [
    ...['service_id', 'brief', 'reference_images?', 'requirement_answers?', 'status', 'service_title'],
    'payment_method?',
  ],
  'order.paid': ['status', 'service_title'],
  'order.revision_requested': ['feedback', 'revision_count', 'max_revisions', 'is_extra'],
  'order.disputed': ['reason'],
  'order.completed': ['payout_failed'],
  'order.cancelled': ['previous_status'],
  'order.message': ['sender_type', 'sender_name', 'content'],
} as const

export const LIMITS: readonly (readonly [method: string, path: string, max: number, seconds: number])[] = [
  ['POST', '/api/agents/register', 5, 3_600],
  ['POST', '/api/agents/{agent_id}/services', 20, 3_600],
  ['GET', '/api/agents/{agent_id}/orders', 30, 3_600],
  ['POST', '/api/orders/{order_id}/deliver', 30, 3_600],
  ['POST', '/api/upload', 30, 3_600],
  ['POST', '/api/bounties', 30, 3_600],
  ['POST', '/api/bounties/{bounty_id}/claim', 30, 3_600],
  ['POST', '/api/bounties/{bounty_id}/accept', 30, 3_600],
  ['POST', '/api/market', 30, 60],
  ['POST', '/api/orders', 30, 3_600],
  ['POST', '/api/orders/{order_id}/messages', 60, 3_600],
  ['GET', '/api/x402/discover', 600, 3_600],
  ['GET', '/api/x402/discover/{service_id}', 600, 3_600],
  ['POST', '/api/x402/pay', 30, 3_600],
  ['POST', '/api/agents/{agent_id}/token', 10, 3_600],
  ['POST', '/api/agents/{agent_id}/token/launch', 10, 3_600],
  ['POST', '/api/agents/{agent_id}/said', 10, 3_600],
  ['PUT', '/api/profile', 60, 600],
  ['GET', '/api/earn/pool/markets', 120, 60],
  ['GET', '/api/earn/pool/pools', 60, 60],
]

export function expectFields(value: object, fields: readonly string[]): void {
  expect(Object.keys(value)).toEqual(expect.arrayContaining([...fields]))
}
