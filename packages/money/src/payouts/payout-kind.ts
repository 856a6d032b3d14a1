import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Payout, PayoutKind } from './payout.ts'

/** What the reason of a payout requires it to be. */
export interface PayoutTerms {
  readonly network: Network
  readonly amount: Usdc
  /** The addresses it may be sent to. */
  readonly payees: readonly string[]
  /** Addresses of the payee that are not paid yet, and from when on they are, if that is known. */
  readonly newPayees?: readonly { readonly address: string; readonly from: Date | null }[]
  /** Until when it waits because the payer of the purchase is not proven, and since when that is contested. */
  readonly wait?: Pick<Payout, 'notBefore' | 'contestedAt'>
}

/**
 * How a kind counts against the caps of a day. `unless_returned`: not when it goes back to its payer. `approved`: two operators
 * approved it before it was requested, and no cap holds it.
 */
export type Capped = 'always' | 'unless_returned' | 'approved' | 'never'

export type TermsContext = Needs<'clock' | 'chains'> & {
  /** Fees are withdrawn to these addresses only, whatever was approved. */
  readonly feeAddresses: Readonly<Record<Network, readonly string[]>>
}

/** What a kind of payout means. The module that requests it has its rule; the worker has the table of all. */
export interface PayoutRule {
  /**
   * What the payout must be, derived from what caused it. Of its row only the fields that name that are used. Undefined when nothing
   * requires it: then it is not sent. Runs before it is authorized or signed.
   */
  readonly terms: (ctx: TermsContext, tx: Tx, payout: Payout) => Promise<PayoutTerms | undefined>
  readonly capped: Capped
  /** Whether it goes back to who paid it in. By default, to the wallet whose transfer it comes from. */
  readonly isReturned?: (tx: Tx, payout: Payout) => Promise<boolean>
  /** Runs first in the transaction that ends the payout: locks what `onSent` writes before rows that many payouts share. */
  readonly beforeSent?: (tx: Tx, payout: Payout) => Promise<void>
  /** `onSent` and `onFailed` run in the transaction that ends the payout, so what they write is committed with it. */
  readonly onSent?: (
    ctx: Needs<'clock' | 'chains'>,
    tx: Tx,
    payout: Payout,
    reference: string,
  ) => Promise<void>
  readonly onFailed?: (ctx: Needs<'clock'>, tx: Tx, payout: Payout) => Promise<void>
}

export type PayoutKinds = Readonly<Record<PayoutKind, PayoutRule>>
