import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { AgentId, OrderId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, escrow, post, splitPrice } from '@market/money/ledger'
import { type Payout, requestPayout } from '@market/money/payouts'
import { sql } from 'kysely'

/** What a test wants to be paid out. */
export interface OwedOrder {
  readonly network: Network
  readonly kind: 'payout' | 'refund'
  /** Distinguishes it from other orders of the test. */
  readonly name: string
  /** Null for an agent without an address. */
  readonly payee: string | null
  readonly amount: Usdc
  /** What was paid for it, when the payout alone does not say so. */
  readonly paid?: { readonly price: Usdc; readonly payer: string; readonly height: bigint }
}

const digest = (name: string): string => createHash('sha256').update(name).digest('hex')

export const orderIdOf = (name: string): OrderId => `ord_1_${digest(name).slice(0, 17)}`

const AGENT_SHARE = 9n
const WHOLE = 10n

/** The price of which the agent receives this amount. */
function priceFor(earned: Usdc): Usdc {
  const about = (earned * WHOLE) / AGENT_SHARE
  const price = [about - 1n, about, about + 1n].find((one) => splitPrice(usdc(one)).agent === earned)
  return usdc(price ?? 0n)
}

/**
 * An ended order that owes a payout to its agent or a refund to its buyer, paid by a final transfer from `from`. Written
 * directly, because the way there is not what these tests are about. Repeated, it changes nothing.
 */
async function makeOwedOrder(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  owed: OwedOrder,
  account: Account,
): Promise<{ id: OrderId; agentId: AgentId; from: Account }> {
  const { network, kind, name, payee } = owed
  const at = ctx.clock.now()
  const id = orderIdOf(name)
  const agentId: AgentId = `agt_1_${digest(name).slice(0, 17)}`
  const listingId = `svc_1_${digest(name).slice(0, 17)}`
  const { price, reference, from } = await payFor(ctx, tx, owed, account)
  const isEvm = network !== 'solana-mainnet'
  const address = payee?.toLowerCase() ?? null
  // On the third network only the owner's wallet is paid.
  const owner = network === 'alt-mainnet' ? address : null
  await sql`
    insert into agents (id, name, name_skeleton, written_skeleton, slug, description, capabilities, ai_models,
      api_key_fingerprint, api_key_sealed, api_key_hint, created_at, updated_at, payout_wallet, payout_address_base, owner_wallet, owner_proven_by)
    values (${agentId}, ${name}, ${name}, ${name}, ${name.toLowerCase()}, 'An agent of a test.', '{}', '{}',
      decode(${digest(agentId)}, 'hex'), '\\x00', 'abcd', ${at}, ${at},
      ${isEvm ? null : payee}, ${network === 'base-mainnet' ? address : null},
      ${owner}, ${owner === null ? null : 'key'})
    on conflict do nothing`.execute(tx)
  await sql`
    insert into listings (id, agent_id, slug, category, title, description, price_type, turnaround_hours,
      deliverables, quota_limit, max_revisions, requirement_fields, active, marketable, created_at, updated_at)
    values (${listingId}, ${agentId}, 'review', 'coding', 'Review', 'Reviews a branch and explains what should change.', 'quote', 24, '{}', 1, 1, '[]',
      false, false, ${at}, ${at})
    on conflict do nothing`.execute(tx)
  const [status, outcome, part] =
    kind === 'payout' ? ['completed', 'released', price] : ['cancelled', 'refunded', 0]
  await sql`
    insert into orders (id, listing_id, agent_id, buyer, status, title, brief, reference_urls, reference_images,
      requirement_answers, price_type, turnaround_hours, max_revisions, revision_count, is_private, price_micros,
      payment_network, payment_reference, paid_at, deliver_by, delivered_at, closed_at, outcome, agent_part_micros,
      payer_proven, created_at, updated_at)
    values (${id}, ${listingId}, ${agentId}, 'user:a-buyer', ${status}, 'Review', 'Review it.', '{}', '{}', '{}', 'quote',
      24, 1, 0, false, ${price}, ${network}, ${reference}, ${at}, ${at}, ${at}, ${at}, ${outcome}, ${part}, true, ${at}, ${at})
    on conflict do nothing`.execute(tx)
  return { id, agentId, from }
}

/**
 * The final transfer that pays for the order, whose money is in escrow then. It was claimed long ago, unless a test says what was
 * paid: then it is claimed now.
 */
export async function payFor(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, kind, name, payee, amount, paid }: OwedOrder,
  account: Account,
): Promise<{ price: Usdc; reference: string; from: Account }> {
  const at = ctx.clock.now()
  const id = orderIdOf(name)
  const price = paid?.price ?? (kind === 'payout' ? priceFor(amount) : amount)
  const payer = paid?.payer ?? (kind === 'refund' ? payee : digest(name).slice(0, 40))
  const reference = `${network === 'solana-mainnet' ? '' : '0x'}${digest(`paid ${name}`)}`
  const claimedAt = paid === undefined ? sql`'2020-01-01'` : sql`now()`
  await sql`
    insert into transfers (network, reference, purpose, payer, amount_micros, due_micros, block_height, block_hash,
      happened_at, state, checked_at, created_at, claimed_at)
    values (${network}, ${reference}, ${`order:${id}`}, ${payer}, ${price}, ${price}, ${paid?.height ?? 0n}, '0x0', ${at}, 'final', ${at}, ${at}, ${claimedAt})
    on conflict do nothing`.execute(tx)
  const from = escrow(network, `order:${id}`)
  const moves = [{ from: account, to: from, amount: price }]
  await post(ctx, tx, { key: `paid:${id}`, reason: 'test.paid', subject: id, network, moves })
  return { price, reference, from }
}

/** Requests the payout or refund of an order of its own, from money of the account. */
export async function requestOwed(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  owed: OwedOrder,
  account: Account,
): Promise<Payout> {
  const { network, kind, payee, amount } = owed
  const { id, agentId, from } = await makeOwedOrder(ctx, tx, owed, account)
  const purpose = { kind: 'order', id } as const
  return requestPayout(ctx, tx, { network, kind, payee, amount, subject: id, purpose, agentId, from })
}
