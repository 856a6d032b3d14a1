import type { Operations } from '@market/sdk'
import type { CheckedProof } from '../check-proof.ts'

/** What the story page shows in the parts. Names, texts and figures are made up. */

type Service = Operations['getService']['data']
type Config = Operations['getConfig']['data']
type Purchase = Operations['getPurchasedOrder']['data']
type Reserves = Operations['getSolvency']['data'][number]
type Order = Purchase['order']

export const NOW = Date.parse('2026-11-18T12:00:00Z')
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString()
const LATER = new Date(NOW + 86_400_000).toISOString()
export const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
export const HASH = '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060'
/** Longer than any line, right-to-left and without a space. */
export const LONG = `שלום 🐟 ${'Unbroken'.repeat(40)}`

export const AGENT: Service['agent'] = {
  ...{ agent_id: 'agt_1', slug: 'typescript-reviewer', name: 'Typescript Reviewer', verified: 1 },
  avatar_url: null,
}
export const UNPROVEN: Service['agent'] = { ...AGENT, agent_id: 'agt_7', name: LONG, verified: 0 }

export const FIXED: Service = {
  ...{ id: 'svc_1', service_id: 'svc_1', slug: 'review-of-one-pull-request', agent_id: 'agt_1' },
  ...{ category: 'coding', title: 'Review of one pull request', price_type: 'fixed', price_usd: '20.00' },
  description: 'I read one pull request in TypeScript and list what could break, with the reason for each.',
  ...{ turnaround_hours: 2, deliverables: ['A list of findings'], demo_url: null, quota_limit: 0 },
  ...{ max_revisions: 3, active: true, marketable: true, total_orders: 140, completed_orders: 131 },
  ...{ avg_rating: 4.8, review_count: 96, created_at: at(90_000), updated_at: at(90_000), agent: AGENT },
  payable_on: ['base-mainnet', 'solana-mainnet', 'alt-mainnet'],
  payment: [],
  requirement_fields: [
    { label: 'Address of the pull request', type: 'url', required: true },
    { label: 'What is it for?', type: 'text', required: false },
    { label: 'Background', type: 'textarea', required: false },
    { label: 'Files', type: 'number', required: false },
    { label: 'Depth', type: 'select', required: true, options: ['Quick', 'Thorough'] },
    { label: LONG, type: 'text', required: false },
  ],
}
/** Every way in which a service is priced. */
export const SERVICES: readonly Service[] = [
  FIXED,
  { ...FIXED, id: 'svc_2', price_type: 'quote', price_usd: null, payable_on: ['base-mainnet'] },
  { ...FIXED, id: 'svc_3', price_type: 'quote', price_usd: '140.00', turnaround_hours: 120 },
  { ...FIXED, id: 'svc_4', price_type: 'weekly', price_usd: '12.00', quota_limit: 50 },
  { ...FIXED, id: 'svc_5', price_type: 'monthly', price_usd: '1234567.5', payable_on: [] },
  {
    ...{ ...FIXED, id: 'svc_6', title: LONG, description: LONG, agent: UNPROVEN },
    ...{ avg_rating: null, review_count: 0, completed_orders: 0 },
  },
]

export const CONFIG: Config = {
  networks: (['base-mainnet', 'solana-mainnet', 'alt-mainnet'] as const).map((network) => ({
    ...{ network, kind: network === 'solana-mainnet' ? 'solana' : 'evm', is_test: true, chain_id: null },
    ...{ caip2: network, usdc: ADDRESS, usdc_decimals: 6, min_payout_usd: '0.05', confirmations: [] },
    ...{ public_rpc_url: null, coin: network === 'solana-mainnet' ? 'SOL' : 'ETH' },
    // One network has no explorer.
    explorer_transaction_url: network === 'alt-mainnet' ? null : 'https://explorer.example/tx/{hash}',
    explorer_address_url: network === 'alt-mainnet' ? null : 'https://explorer.example/address/{address}',
  })),
  fees: { order_bps: 1_000, x402_bps: 1_000, bounty_bps: 1_000, registration_usd: '0.00' },
  ...{ min_price_usd: '0.10', files_url: null },
  identity_provider: { issuer: '', audience: '', client_ids: { web: null, cli: null }, scopes: [] },
  stopped: { writes: false, intake: false, payouts: [] },
}

export const SOLVENT: Reserves = {
  ...{ network: 'base-mainnet', treasury: ADDRESS, cold: { address: ADDRESS, assets_usd: '10.00' } },
  ...{ checked_at: at(0.3), assets_usd: '402118.90', assets_final_usd: '402118.90', venues_usd: '1200.00' },
  ...{
    liabilities_usd: '381402.55',
    earn_usd: '0.00',
    earn: [
      {
        ...{ key: 'lender:usdc', vault: ADDRESS, wallet: ADDRESS, vault_shares: '1180000000' },
        ...{ shares: '1000.000000000000', queued_shares: '180.000000000000' },
        ...{ value_usd: '1214.20', read_at: at(0.1) },
      },
    ],
    platform_usd: '12003.10',
    in_flight_usd: '40.00',
  },
  ...{ in_flight: [], in_flight_count: 2, unfinal_usd: '0.00', shortfall_usd: '0.00', solvent: true },
  proof: { snapshot_id: 'rsv_1', checked_at: at(60), root: 'a', leaves: 1_284, liabilities_usd: '1' },
  agent_wallets: { snapshot_id: 'rsv_1', checked_at: at(60), root: 'a', count: 12, total_usd: '90.10' },
}
const EMPTY: Reserves = {
  ...{ ...SOLVENT, network: 'alt-mainnet', cold: null, assets_usd: '0.00', venues_usd: '0.00' },
  ...{
    liabilities_usd: '0.00',
    earn: [],
    in_flight_count: 0,
    in_flight_usd: '0.00',
    proof: null,
    agent_wallets: null,
  },
}
export const RESERVES: readonly Reserves[] = [
  SOLVENT,
  {
    ...{ ...SOLVENT, network: 'solana-mainnet', earn: [], assets_usd: '300.00', liabilities_usd: '2000.00' },
    ...{ shortfall_usd: '500.00', solvent: false },
  },
  EMPTY,
]
export const POINTS = Array.from({ length: 40 }, (_, day) => ({
  day: new Date(NOW - (40 - day) * 86_400_000).toISOString().slice(0, 10),
  held_usd: String(380_000 + day * 900 + (day % 5) * 2_000),
  // Below what is owed on some days.
  owed_usd: String(340_000 + day * 1_400 + (day % 7) * 3_000),
}))

export const STARS = { 1: 2, 2: 0, 3: 4, 4: 12, 5: 78 } as const
export const REVIEWS = [5, 3, 1].map((rating) => ({
  ...{ id: `rev_${rating}`, agent_id: 'agt_1', service_id: 'svc_1', rating, created_at: at(rating * 700) },
  comment: rating === 1 ? LONG : 'Found the race that we had looked for since spring.',
}))

const item = { media_type: null, sha256: null, title: null, url: null, content: null } as const
export const WORK: Operations['listPortfolio']['data'] = [
  { excerpt: '1. The lock is taken twice\n2. No timeout', title: 'Findings' },
  { excerpt: null, title: LONG },
  { excerpt: null, title: null },
].map(({ excerpt, title }, n) => ({
  ...{ source_type: 'order', source_id: `ord_${n}`, service_id: 'svc_1', hidden: false },
  ...{ title: title ?? 'Review of one pull request', completed_at: at(n * 3_000) },
  deliverables: [
    {
      ...item,
      source_type: 'deliverable',
      source_id: `ord_${n}:1`,
      type: 'text',
      hidden: false,
      excerpt,
      title,
    },
  ],
}))

const STEP = { id: '', at: at(20), agent: AGENT, service: null, rating: null }
type Step = Operations['listActivity']['data'][number]

const STEPS: readonly Step[] = [
  { ...STEP, kind: 'order', service: { service_id: 'svc_1', title: FIXED.title } },
  { ...STEP, kind: 'order' },
  { ...STEP, kind: 'review', rating: 4 },
  { ...STEP, kind: 'service', service: { service_id: 'svc_1', title: LONG }, agent: UNPROVEN },
  { ...STEP, kind: 'registration' },
  { ...STEP, kind: 'token_launch' },
]
export const ACTIVITY = STEPS.map((step, n) => ({ ...step, id: `act_${n}`, at: at(n ** 5) }))

const ORDER: Order = {
  ...{ id: 'ord_1', order_id: 'ord_1', service_id: 'svc_1', bounty_id: null, agent_id: 'agt_1' },
  ...{ service_title: FIXED.title, status: 'accepted', brief: 'Read it.', reference_urls: [] },
  ...{ reference_images: [], requirement_answers: {}, client_wallet: null, private: false },
  ...{ price_usd: '20.00', agent_usd: '18.00', fee_usd: '2.00', price_type: 'fixed', price_until: null },
  ...{ quote_message: null, turnaround_hours: 2, quota_total: null, quota_used: null, quota_failed: null },
  ...{ workspace_ends_at: null, revision_count: 0, max_revisions: 3, payment_method: 'x402' },
  ...{ payment_network: 'base-mainnet', escrow_tx_hash: null, pending_tx_hash: HASH, payment_error: null },
  ...{ payer_proven: true, payout_waits_until: null, contested_at: null, contest_ends_at: null },
  ...{ paid_at: null, deliver_by: null, delivered_at: null, review_ends_at: null, complaint: null },
  ...{ closed_at: null, outcome: null, created_at: at(300), updated_at: at(300), payment: [] },
}
const UNPAID: Order = { ...ORDER, pending_tx_hash: null, payment_network: null }
const PAID: Order = { ...ORDER, status: 'paid', escrow_tx_hash: HASH, paid_at: at(290), deliver_by: LATER }
const DELIVERED: Order = { ...PAID, status: 'delivered', delivered_at: at(100), review_ends_at: LATER }
const closed = { closed_at: at(10), review_ends_at: null } as const

export const PURCHASE: Purchase = {
  ...{
    order: ORDER,
    deliverables: [],
    deliveries: [],
    review: null,
    generations: [],
    agent: AGENT,
    acts: [],
  },
  ...{ steps: [], pending_payment: null, payment_final: null, agent_paid: false, viewer_role: 'buyer' },
  ...{ payout: null, refund: null, sign: null },
}
const REFUND: Purchase['refund'] = {
  ...{ status: 'sent', amount_usd: '22.00', network: 'base-mainnet', tx_hash: HASH },
  ...{ hold_code: null, held_until: null, reason: null },
}

/** Each step at which an order stands, each end, and what may stand in its way. */
export const PURCHASES: readonly (readonly [state: string, page: Purchase])[] = [
  ['The payment waits', PURCHASE],
  ['Waits for a price', { ...PURCHASE, order: { ...UNPAID, status: 'pending_quote', price_usd: null } }],
  ['Paid', { ...PURCHASE, order: PAID }],
  ['Delivered', { ...PURCHASE, order: DELIVERED }],
  [
    'Completed',
    { ...PURCHASE, order: { ...DELIVERED, ...closed, status: 'completed', outcome: 'released' } },
  ],
  [
    'Divided by an operator',
    { ...PURCHASE, order: { ...DELIVERED, ...closed, status: 'completed', outcome: 'split' } },
  ],
  [
    'Cancelled and refunded',
    { ...PURCHASE, refund: REFUND, order: { ...PAID, ...closed, status: 'cancelled', outcome: 'refunded' } },
  ],
  [
    'Cancelled unpaid',
    { ...PURCHASE, order: { ...UNPAID, ...closed, status: 'cancelled', outcome: 'unpaid' } },
  ],
  [
    'Contested, with a time',
    { ...PURCHASE, order: { ...PAID, contested_at: at(20), contest_ends_at: LATER } },
  ],
  ['Contested', { ...PURCHASE, order: { ...PAID, contested_at: at(20) } }],
  ['The payment failed', { ...PURCHASE, order: { ...ORDER, payment_error: LONG } }],
]

export const DELIVERIES: Purchase = {
  ...PURCHASE,
  deliveries: [
    {
      n: 1,
      at: at(200),
      note: null,
      deliverables: [{ ...item, type: 'text', content: LONG, title: 'Findings' }],
    },
    {
      ...{ n: 2, at: at(100), note: 'With the second file.\nAs you asked.' },
      deliverables: [
        { ...item, type: 'link', url: 'https://files.example/report', title: 'Report' },
        {
          ...item,
          type: 'document',
          url: `https://files.example/${'x'.repeat(90)}.pdf`,
          sha256: 'ab'.repeat(32),
        },
      ],
    },
  ],
}

const PROOF: CheckedProof['proof'] = {
  ...{ network: 'base-mainnet', snapshot_id: 'rsv_1', checked_at: at(60), root: 'a', total_usd: '12.50' },
  leaf: { account: 'escrow:order', holder: ADDRESS, amount_usd: '10.00', micros: '10000000', salt: '' },
  path: [],
}
const ok = { result: 'ok', what: 'Your leaf is under the published root', detail: HASH } as const
export const CHECKS: readonly CheckedProof[] = [
  [ok],
  [ok, { result: 'unknown', what: 'The memo was not read', detail: 'No Solana node is named.' } as const],
  [ok, { result: 'failed', what: 'The memo has another hash', detail: LONG } as const],
].map((steps, n) => ({ steps, proof: { ...PROOF, leaf: { ...PROOF.leaf, salt: String(n) } } }))
