import type { Operations } from '@market/sdk'
import { ADDRESS, HASH, LONG, NOW } from './samples.ts'

/** Notifications, profiles and receipts in every state. A test parses each by the contract. */

type Notification = Operations['listNotifications']['data'][number]
type Receipt = Operations['getReceipt']['data']['receipt']
type Me = Operations['getMe']['data']

const at = (hoursAgo: number): string => new Date(NOW - hoursAgo * 3_600_000).toISOString()
const SHA256 = 'ab'.repeat(32)

const NOTIFICATION: Notification = {
  ...{ id: 'ntf_1', kind: 'order.delivered', title: 'Pixel Smith delivered “Logo for a shop”' },
  ...{ body: 'Approve it, or ask for a revision within 48 hours.', data: { order_id: 'ord_1' } },
  ...{ read: false, created_at: at(0.2) },
}

export const NOTIFICATIONS: readonly Notification[] = [
  NOTIFICATION,
  {
    ...NOTIFICATION,
    id: 'ntf_2',
    kind: 'bounty.claimed',
    title: LONG,
    body: LONG,
    data: { bounty_id: 'bnty_1' },
  },
  {
    ...{ ...NOTIFICATION, id: 'ntf_3', kind: 'oauth.connected', data: {}, read: true, created_at: at(30) },
    ...{
      title: 'Assistant was connected to your account',
      body: 'The access went to a program on this device.',
    },
  },
  {
    ...{ ...NOTIFICATION, id: 'ntf_4', kind: 'approval.approved', data: {}, created_at: at(900) },
    ...{ title: 'About nothing with a page of its own', read: true },
  },
]

const USER: NonNullable<Me['user']> = {
  ...{ idp_user_id: 'user-4f2c', username: 'ana', display_name: 'Ana', twitter_username: 'ana_bakes' },
  ...{ google_email: 'ana@example.com', avatar_url: null, bio: 'Bakery in the old town.' },
  ...{ created_at: '2026-03-01 08:00:00', updated_at: '2026-03-01 08:00:00' },
}

export const SIGNED_IN: Me = {
  ...{ kind: 'user', credential: 'session', user: USER, wallet: null, agent: null, is_operator: false },
  wallets: [
    { address: ADDRESS, chain: 'base' },
    { address: '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV', chain: 'solana' },
  ],
  ...{ login_at: at(1), unread_count: 2, session: { expires_at: at(-700), reads_only: false } },
}

/** As long as the contract allows. */
export const LONG_USER: NonNullable<Me['user']> = {
  ...{ ...USER, display_name: LONG.slice(0, 50), username: LONG, bio: LONG.slice(0, 280) },
  ...{
    google_email: `${'long'.repeat(40)}@example.com`,
    avatar_url: `https://elsewhere.example/${'x'.repeat(300)}`,
  },
}

const TRANSFER: Receipt['transfers'][number] = {
  ...{ direction: 'in', kind: 'payment', network: 'base-mainnet', amount_usd: '25.00', wallet: ADDRESS },
  ...{ asset: { currency: 'USDC', address: ADDRESS }, tx_hash: HASH, at: at(49) },
}
const FILE: Receipt['deliverables'][number] = {
  ...{ type: 'image', title: 'logo-colour.png', media_type: 'image/png', file_sha256: SHA256 },
  ...{ text_sha256: null, url_sha256: null },
}

/** A usual one, which is printed on one page. */
export const RECEIPT: Receipt = {
  ...{ iss: 'https://market.example', sub: 'ord_1794784877600_04vnhgh6dbf1olza5', iat: NOW / 1_000 },
  ...{ issued_to: 'buyer', final: true },
  order: {
    ...{ status: 'completed', outcome: 'released', created_at: at(50), paid_at: at(49) },
    ...{ delivered_at: at(17), closed_at: at(2) },
  },
  service: { id: 'svc_1', bounty_id: null, title: 'Logo for a shop' },
  buyer: { id: 'user:user-4f2c', wallet: ADDRESS, payer_proven: true },
  agent: { id: 'agt_1', slug: 'pixel-smith', name: 'Pixel Smith' },
  amounts: {
    ...{ paid_usd: '25.00', price_usd: '25.00', surplus_usd: '0.00', agent_usd: '22.50', fee_usd: '2.50' },
    refund_usd: '0.00',
  },
  transfers: [
    TRANSFER,
    {
      ...TRANSFER,
      direction: 'out',
      kind: 'payout',
      amount_usd: '22.50',
      wallet: null,
      tx_hash: null,
      at: at(1),
    },
  ],
  deliverables: [
    FILE,
    { ...FILE, type: 'code', title: null, media_type: null, file_sha256: null, text_sha256: SHA256 },
    { ...FILE, type: 'link', title: 'usage-sheet', media_type: null, file_sha256: null, url_sha256: SHA256 },
  ],
  deliverables_total: 3,
}

export const RECEIPTS: readonly (readonly [state: string, receipt: Receipt])[] = [
  ['completed, of the buyer', RECEIPT],
  [
    'not ended, payer not proven',
    {
      ...{ ...RECEIPT, final: false, transfers: [TRANSFER], deliverables: [], deliverables_total: 0 },
      buyer: { id: null, wallet: null, payer_proven: false },
      amounts: { ...RECEIPT.amounts, agent_usd: null, fee_usd: null, refund_usd: null },
      order: { ...RECEIPT.order, status: 'paid', outcome: null, delivered_at: null, closed_at: null },
    },
  ],
  [
    'split, with surplus, hostile texts, of a workspace',
    {
      ...{ ...RECEIPT, issued_to: 'agent', deliverables_total: 41 },
      service: { id: null, bounty_id: 'bnty_1', title: LONG },
      agent: { ...RECEIPT.agent, name: LONG },
      order: { ...RECEIPT.order, outcome: 'split' },
      amounts: {
        ...{
          paid_usd: '30.00',
          price_usd: '25.00',
          surplus_usd: '5.00',
          agent_usd: '13.50',
          fee_usd: '1.50',
        },
        refund_usd: '10.00',
      },
      transfers: [
        TRANSFER,
        { ...TRANSFER, direction: 'out', kind: 'refund', amount_usd: '10.00', network: 'alt-mainnet' },
        { ...TRANSFER, direction: 'out', kind: 'surplus', amount_usd: '5.00' },
      ],
      deliverables: [{ ...FILE, title: LONG, media_type: LONG.slice(0, 100) }],
    },
  ],
]
