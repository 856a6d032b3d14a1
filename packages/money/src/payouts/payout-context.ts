import type { Needs } from '@market/core/context'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Screening } from '@market/core/ports/screening'
import type { Tx } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Payout } from './payout.ts'

/** The networks this process can pay on. Only the worker has any. */
export type PayoutSenders = Readonly<Partial<Record<Network, PayoutSender>>>

/** How much may be paid without an operator: per payout, and per payee and per network in 24 hours. */
export interface Caps {
  readonly perPayout: Usdc
  readonly perPayee: Usdc
  readonly perDay: Usdc
  /** The most one payout may cost in the native coin, including the rent of a new account. No entry means no cap. */
  readonly cost: Readonly<Partial<Record<Network, bigint>>>
  /** The most that the payouts of a network may cost in the native coin in 24 hours. No entry means no budget. */
  readonly gasBudget: Readonly<Partial<Record<Network, bigint>>>
  /** An agent's waiting earnings on Solana must reach this before the treasury opens its token account. */
  readonly accountMinimum: Usdc
}

/** What the reason of a payout requires it to be. */
export interface PayoutTerms {
  readonly network: Network
  /** Zero when it requires no such payout. */
  readonly amount: Usdc
  /** The addresses it may be sent to. */
  readonly payees: readonly string[]
  /** Addresses of the payee that are not paid yet, and from when on they are, if that is known. */
  readonly newPayees?: readonly { readonly address: string; readonly from: Date | null }[]
  /** Until when it waits because the payer of the purchase is not proven, and since when that is contested. */
  readonly wait?: Pick<Payout, 'notBefore' | 'contestedAt'>
}

/**
 * Implemented by the module that requests payouts, registered by the app. `onSent` and `onFailed` run in the transaction
 * that ends the payout, so what they write is committed with it.
 */
export interface PayoutListener {
  /**
   * Derives what the payout must be from the order and the transfer that paid for it, without reading the payout's own
   * row. Undefined when it belongs to neither an order, a registration nor a bounty: then it is not sent, unless an
   * operator or the payer of unmatched money decided it. Runs before a payout is authorized or signed.
   */
  termsOf(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<PayoutTerms | undefined>
  /** Runs first in the transaction that ends the payout: locks what `onSent` writes before rows that many payouts share. */
  beforeSent(tx: Tx, payout: Payout): Promise<void>
  onSent(ctx: Needs<'clock' | 'chains'>, tx: Tx, payout: Payout, reference: string): Promise<void>
  onFailed(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<void>
}

export type PayoutContext = Needs<'db' | 'clock' | 'ids' | 'chains'> & {
  readonly payoutSenders: PayoutSenders
  readonly payoutListener: PayoutListener
  readonly caps: Caps
  /** A payout is sent when none of them lists its payee or payer. */
  readonly screenings: readonly Screening[]
  /** Fees are withdrawn to these addresses only, whatever was approved. */
  readonly feeAddresses: Readonly<Record<Network, readonly string[]>>
}
