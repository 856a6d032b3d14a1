import type { BountyPage, NamedTransfer, PostedClaim } from '../bounty/bounty-page.ts'
import { ADDRESS, HASH, LONG, NOW } from './samples.ts'

/** A bounty in every state, for everybody who sees it. A test parses each by the contract. */

type OwnClaim = BountyPage['my_claims'][number]

const at = (hoursAgo: number): string => new Date(NOW - hoursAgo * 3_600_000).toISOString()

const BOUNTY: BountyPage = {
  ...{ bounty_id: 'bnty_1', title: 'A logo for a bakery', category: 'image_gen', budget_usd: 20 },
  ...{ brief: 'One colour, readable at 16 pixels.\nAs SVG.', escrow_usd: '22.00', deadline_hours: 24 },
  ...{
    claim_window_hours: 48,
    client_wallet: ADDRESS,
    reference_urls: ['https://elsewhere.example/colours'],
  },
  ...{ reference_images: [], status: 'open', pending_claims: 0, created_at: at(60), updated_at: at(60) },
  ...{ expires_at: at(-660), role: 'reader', order_id: null, my_claims: [], claims: null, transfers: null },
}

const OWN: OwnClaim = {
  ...{ claim_id: 'bcl_1', bounty_id: 'bnty_1', agent_id: 'agt_1', message: 'I have made ten of these.' },
  ...{ status: 'pending', created_at: at(20), expires_at: at(-28), ended_at: null },
}
const agent = (n: number, name: string): PostedClaim['agent'] => ({
  ...{ agent_id: `agt_${n}`, name, slug: `agent-${n}`, avatar_url: null },
  ...{ completed_orders: n * 7, avg_rating: n === 1 ? null : 4.8 },
})
const POSTED: PostedClaim = {
  ...{ ...OWN, agent: agent(1, 'Pixel Smith') },
  payment: (['base-mainnet', 'solana-mainnet'] as const).map((network) => ({
    ...{ network, asset: { currency: 'USDC', address: ADDRESS }, pay_to: ADDRESS },
    ...{ amount: '22000000', amount_usd: '22.00' },
  })),
}
const PENDING: readonly PostedClaim[] = [
  POSTED,
  { ...POSTED, claim_id: 'bcl_2', agent: agent(2, LONG), message: LONG },
]
const gone = (status: PostedClaim['status'], n: number): PostedClaim => ({
  ...{ ...POSTED, status, claim_id: `bcl_${n}`, ended_at: at(1), payment: [], message: '' },
  agent: agent(n, `Agent ${n}`),
})
const ENDED = (['rejected', 'withdrawn', 'expired'] as const).map((status, n) => gone(status, n + 5))

const WAITING: NamedTransfer = {
  ...{ claim_id: 'bcl_1', network: 'base-mainnet', escrow_tx_hash: HASH, status: 'waiting' },
  ...{ confirmations: 7, required: 12, refund: null, created_at: at(0.01) },
}
const DONE: NamedTransfer = { ...WAITING, confirmations: null, required: null, status: 'accepted' }
const REFUND: NonNullable<NamedTransfer['refund']> = {
  ...{ status: 'sent', amount_usd: '22.00', network: 'base-mainnet', tx_hash: HASH, hold_code: null },
  ...{ held_until: null, reason: null },
}
export const TRANSFERS: readonly NamedTransfer[] = [
  WAITING,
  DONE,
  { ...DONE, status: 'failed' },
  { ...DONE, status: 'refunded', refund: REFUND },
  { ...DONE, status: 'refunded', refund: { ...REFUND, status: 'held', tx_hash: null, reason: LONG } },
].map((one, n) => ({ ...one, escrow_tx_hash: HASH.replace(/.$/, String(n)) }) as NamedTransfer)

const claimed = { status: 'claimed', order_id: 'ord_1' } as const
const poster = (more: Partial<BountyPage>): BountyPage => ({
  ...{ ...BOUNTY, role: 'poster', claims: [], transfers: [] },
  ...more,
})
const POSTER: readonly (readonly [string, BountyPage])[] = [
  ['open', poster({})],
  ['open, claimed', poster({ pending_claims: 2, claims: [...PENDING, ...ENDED] })],
  ['open, one claim', poster({ pending_claims: 1, claims: [POSTED] })],
  ['open, named', poster({ transfers: [{ ...WAITING, confirmations: null, required: null }] })],
  ['open, confirming', poster({ pending_claims: 2, claims: [...PENDING], transfers: [WAITING] })],
  ['open, until final', poster({ transfers: [{ ...WAITING, required: null }] })],
  ['claimed', poster({ ...claimed, claims: [gone('accepted', 1)], transfers: [DONE] })],
  ['completed', poster({ ...claimed, status: 'completed' })],
  ['cancelled', poster({ status: 'cancelled' })],
  ['cancelled with its order', poster({ ...claimed, status: 'cancelled' })],
  ['expired', poster({ status: 'expired' })],
]

const owner = (claim: Partial<OwnClaim>, more: Partial<BountyPage> = {}): BountyPage => ({
  ...{ ...BOUNTY, role: 'claimant', my_claims: [{ ...OWN, ended_at: at(1), ...claim }] },
  ...more,
})
const OWNER: readonly (readonly [string, BountyPage])[] = [
  ['pending', owner({ ended_at: null }, { pending_claims: 1 })],
  ['accepted', owner({ status: 'accepted' }, claimed)],
  ['accepted, completed', owner({ status: 'accepted' }, { ...claimed, status: 'completed' })],
  ['accepted, cancelled', owner({ status: 'accepted' }, { ...claimed, status: 'cancelled' })],
  ['rejected', owner({ status: 'rejected' })],
  ['withdrawn', owner({ status: 'withdrawn' })],
  ['expired', owner({ status: 'expired' })],
  ['expired, taken', owner({ status: 'expired' }, { status: 'claimed' })],
]

const READER = (['open', 'claimed', 'completed', 'cancelled', 'expired'] as const).map(
  (status): readonly [string, BountyPage] => [
    status,
    { ...BOUNTY, status, title: LONG.slice(0, 100), brief: LONG },
  ],
)

/** Every state for every viewer. */
export const BOUNTY_PAGES: readonly (readonly [name: string, page: BountyPage])[] = [
  ...POSTER.map(([name, page]) => [`${name}, poster`, page] as const),
  ...OWNER.map(([name, page]) => [`${name}, claimant`, page] as const),
  ...READER.map(([name, page]) => [`${name}, reader`, page] as const),
]

export const MY_BOUNTIES = BOUNTY_PAGES.flatMap(([, { claims: _, transfers: __, role, ...bounty }], n) =>
  role === 'reader' ? [] : [{ ...bounty, role, bounty_id: `bnty_${n}` }],
)
