import type { Needs } from '@market/core/context'
import { minus, type Usdc, usdc, ZERO } from '@market/kernel/money'
import type { Pool } from '../pools/index.ts'

export type DepositId = `edp_${string}`

/**
 * `waiting` until the transfer is confirmed, `received` until it is final. Then it is `deploying` until the venue's receipts
 * are final, and `active`: its shares exist. `refunded`: the venue did not take it. `held`: it could not be refunded either,
 * and an operator decides. `failed`: no such transfer came, or the chain reversed it.
 */
export type DepositStatus = 'waiting' | 'received' | 'deploying' | 'active' | 'refunded' | 'held' | 'failed'

/** What a depositor named a transfer for. Its payment intent has the transaction. */
export interface Deposit {
  readonly id: DepositId
  readonly poolKey: string
  /** As `nameOf` names a caller. */
  readonly holder: string
  readonly network: Pool['network']
  readonly amount: Usdc
  readonly status: DepositStatus
  /** The part of the amount that is in the vault or on its way there. */
  readonly moved: Usdc
  /** The wallet whose transfer it was, from the moment when its money is moved. */
  readonly payer: string | null
  readonly shares: bigint | null
  /** What the shares were worth when they were given. Both grow with each part. */
  readonly value: Usdc | null
  readonly failure: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface NamedDeposit extends Deposit {
  readonly reference: string
}

export const newDeposit = (
  ctx: Needs<'clock' | 'ids'>,
  { key: poolKey, network }: Pick<Pool, 'key' | 'network'>,
  holder: string,
  { amount, reference }: Pick<NamedDeposit, 'amount' | 'reference'>,
): NamedDeposit => ({
  ...{ id: ctx.ids.next('edp'), poolKey, holder, network, reference, amount, status: 'waiting' },
  ...{ moved: ZERO, payer: null, shares: null, value: null, failure: null },
  ...{ createdAt: ctx.clock.now(), updatedAt: ctx.clock.now() },
})

export const purposeOf = ({ id }: Pick<Deposit, 'id'>) => ({ kind: 'earn_deposit', id }) as const

/** What has not been moved to the venue. */
export const leftOf = ({ amount, moved }: Pick<Deposit, 'amount' | 'moved'>): Usdc => minus(amount, moved)

/** A smaller transfer to the venue waits for more deposits: it costs the gas of three transactions. */
export const SMALLEST_DEPLOY = usdc(1_000_000n)

/** What of a deposit fits into a transfer to the venue. What stays back is enough for another one. */
export function partThatFits(left: Usdc, room: Usdc): Usdc {
  if (left <= room) return left
  const most = minus(left, SMALLEST_DEPLOY)
  return most < room ? most : room
}
