import type { Needs } from '@market/core/context'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Tx } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Payout } from './payout.ts'

/** The networks this process can pay on. Only the worker has any. */
export type PayoutSenders = Readonly<Partial<Record<Network, PayoutSender>>>

/** How much may be paid without an operator: per payout, and per network in 24 hours. */
export interface Caps {
  readonly perPayout: Usdc
  readonly perDay: Usdc
  /** The most one payout may cost in the native coin, including the rent of a new account. No entry means no cap. */
  readonly cost: Readonly<Partial<Record<Network, bigint>>>
}

/**
 * Implemented by the module that requests payouts, registered by the app. Both functions run in the transaction that
 * ends the payout, so what they write is committed with it.
 */
export interface PayoutListener {
  onSent(ctx: Needs<'clock'>, tx: Tx, payout: Payout, reference: string): Promise<void>
  onFailed(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<void>
}

export type PayoutContext = Needs<'db' | 'clock' | 'ids'> & {
  readonly payoutSenders: PayoutSenders
  readonly payoutListener: PayoutListener
  readonly caps: Caps
}
