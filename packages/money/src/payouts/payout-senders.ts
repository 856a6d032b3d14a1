import type { Needs } from '@market/core/context'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** The networks this process can pay on. Only the worker has any. */
export type PayoutSenders = Readonly<Partial<Record<Network, PayoutSender>>>

/** How much may leave without somebody looking: per payout, and per network in 24 hours. */
export interface Caps {
  readonly perPayout: Usdc
  readonly perDay: Usdc
  /** The most one payout may cost in the chain's own coin, a fresh account's rent included; no entry, no cap. */
  readonly cost: Readonly<Partial<Record<Network, bigint>>>
}

export type PayoutContext = Needs<'db' | 'clock' | 'ids'> & {
  readonly payoutSenders: PayoutSenders
  readonly caps: Caps
}
