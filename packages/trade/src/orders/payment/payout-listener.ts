import { findDetails } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import type { Tx } from '@market/database/transact'
import { findAgentById, payoutAddress, payoutAddressOf } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { minus, type Usdc, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { splitByShare } from '@market/money/ledger'
import { findTransferFor, type Purpose, type Transfer } from '@market/money/payments'
import { type Payout, type PayoutListener, type PayoutTerms, redirectedPayees } from '@market/money/payouts'
import { type Order, payoutWait } from '../order.ts'
import { policyOf } from '../policy.ts'
import { findOrder } from '../store.ts'
import { shareOf, surplusSubject } from './order-money.ts'
import { emitPayoutFailed, emitPayoutSent, lockRefundEvent } from './payout-events.ts'

/**
 * What a payout must be, from the order and the transfer that paid for it. Of the payout's row only the kind, the subject
 * and the purpose are used, to find them. Undefined when it belongs to neither an order, a registration nor a bounty.
 */
async function payoutTerms(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<PayoutTerms | undefined> {
  const purpose = purposeOfPayout(payout)
  if (purpose === undefined) return undefined
  const transfer = await findTransferFor(tx, purpose)
  const none = { network: payout.network, amount: ZERO, payees: [] }
  if (transfer === undefined) return none
  const { network, payer } = transfer
  const redirected = await redirectedPayees(tx, payout)
  const payees = payer === null ? redirected : [payer, ...redirected]
  if (payout.kind === 'surplus')
    return isSurplusOf(payout, purpose, network) ? { network, amount: surplusOf(transfer), payees } : none
  if (payout.subject !== purpose.id) return none
  if (purpose.kind !== 'order')
    return { network, amount: payout.kind === 'refund' ? transfer.due : ZERO, payees }
  const order = await findOrder(tx, purpose.id)
  const { part, rest } = sharesOf(order, transfer)
  if (payout.kind === 'refund') return { network, amount: rest, payees }
  const amount = policyOf(order).splitFee(part).agent
  const known = [...redirected, ...(await payeesOf(ctx, tx, order, payout))]
  return { network, amount, payees: known, wait: waitOf(order) }
}

/** The order says how long its payout waits, whatever the row of the payout says. */
const waitOf = (order: Order) => ({
  notBefore: order.status === 'completed' ? (payoutWait(order) ?? null) : null,
  contestedAt: order.contest?.at ?? null,
})

const ORDER = /^ord_\d+_[0-9a-z]{17}/

/** A row that names an order only in its subject belongs to that order as well. */
function purposeOfPayout({ purpose, subject }: Payout): Purpose | undefined {
  const id = ORDER.exec(purpose?.id ?? subject)?.[0]
  if (id !== undefined) return { kind: 'order', id: id as OrderId }
  return purpose === null || purpose.kind === 'order' ? undefined : purpose
}

const isSurplusOf = ({ subject }: Payout, purpose: Purpose, network: Network): boolean =>
  subject === (purpose.kind === 'order' ? surplusSubject(purpose, network) : purpose.id)

const surplusOf = ({ amount, due }: Transfer): Usdc => minus(amount, due)

/** Nothing is due before somebody has decided. The transfer's due amount is what the order holds in escrow. */
function sharesOf(order: Order, { due }: Transfer): { part: Usdc; rest: Usdc } {
  if (order.status !== 'completed' && order.status !== 'cancelled') return { part: ZERO, rest: ZERO }
  return splitByShare(due, shareOf(order))
}

/** The settings that named addresses on each network. On the third network none does. */
const ADDRESS_FIELDS: Readonly<Record<Network, readonly string[]>> = {
  'solana-mainnet': ['payout_wallet'],
  'base-mainnet': ['payout_address_base'],
  'alt-mainnet': [],
}

/**
 * The agent's address, the addresses it had before on this network (a payout is sent to the one of its request), and those
 * that one operator set for this payout before that needed two. Both are in the audit log. The owner's wallet and
 * the custodial one stay valid after an address was set, but no wallet on a network where it is not proven to be the owner's.
 */
async function payeesOf(
  ctx: Needs<'clock'>,
  tx: Tx,
  order: Order,
  { id, network }: Payout,
): Promise<string[]> {
  const agent = await findAgentById(tx, order.agentId)
  const [changes, retries] = [
    await findDetails(tx, 'agents.payout', agent.id),
    await findDetails(tx, 'payout.retried', id),
  ]
  const before = changes.map(({ from }) => from as Readonly<Record<string, unknown>>)
  const known = [
    await payoutAddress(ctx, tx, agent, network),
    payoutAddressOf({ payoutWallet: null, payoutAddressBase: null }, agent, network),
    network === 'solana-mainnet' ? await findWalletAddress(tx, agent.id, 'solana') : null,
    ...before.flatMap((from) => ADDRESS_FIELDS[network].map((field) => from[field])),
    ...retries.filter((retry) => 'payee_before' in retry).map(({ payee }) => payee),
  ]
  return known.filter((address) => typeof address === 'string')
}

/** Registered by the worker: says what a payout must be, and emits the order events when it ends. */
export const orderPayoutListener: PayoutListener = {
  termsOf: payoutTerms,
  beforeSent: lockRefundEvent,
  onSent: emitPayoutSent,
  onFailed: emitPayoutFailed,
}
