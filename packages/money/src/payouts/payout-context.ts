import type { Needs } from '@market/core/context'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Screening } from '@market/core/ports/screening'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { PayoutKinds, TermsContext } from './payout-kind.ts'

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

export type PayoutContext = Needs<'db' | 'ids'> &
  TermsContext & {
    readonly payoutSenders: PayoutSenders
    readonly payoutKinds: PayoutKinds
    readonly caps: Caps
    /** A payout is sent when none of them lists its payee or payer. */
    readonly screenings: readonly Screening[]
  }
