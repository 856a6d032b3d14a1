import { EVER, earlier, HOUR, MINUTE } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import { splitPrice, takeOffFee } from '@market/money/ledger'
import { ANY_AMOUNT } from '@market/money/payments'

/**
 * How an order is paid: null when the buyer names a transfer. The others come with their payment: `x402`, and `bounty`
 * when a poster accepts a claim.
 */
export type PaymentMethod = 'x402' | 'bounty' | null

interface Policy {
  /** A delivery waits for the buyer's review. Without a review the order is completed when it is delivered. */
  readonly hasReview: boolean
  /** How long after its deadline an undelivered order is refunded. */
  readonly graceMs: number
  /** A transfer made before this time does not pay the order. */
  readonly earliestPayment: (createdAt: Date) => Date
  /** Splits what the buyer paid into the agent's share and the fee. */
  readonly splitFee: (amount: Usdc) => { agent: Usdc; fee: Usdc }
  /** Emits an event to the agent when the payout was sent. */
  readonly emitsPayout: boolean
}

/** Block times are coarse: a transfer can appear to be a little older than the order it was made for. */
const BLOCK_TIME_SLACK_MS = 1 * MINUTE

const DIRECT: Policy = {
  hasReview: true,
  graceMs: 24 * HOUR,
  earliestPayment: (createdAt) => earlier(createdAt, BLOCK_TIME_SLACK_MS),
  splitFee: splitPrice,
  emitsPayout: false,
}

const X402: Policy = {
  hasReview: false,
  graceMs: 0,
  // The payment is made before the order exists.
  earliestPayment: () => EVER,
  // The buyer paid the fee on top of the price.
  splitFee: takeOffFee,
  emitsPayout: true,
}

/** Somebody is there to review the delivery. */
const X402_FOR_PRINCIPAL: Policy = { ...X402, hasReview: true }

/** The poster reviews the delivery like any buyer, and paid the fee on top of the budget. */
const BOUNTY: Policy = { ...DIRECT, earliestPayment: () => EVER, splitFee: takeOffFee }

interface Kind {
  readonly paymentMethod: PaymentMethod
  readonly forPrincipal: boolean
}

export function policyOf({ paymentMethod, forPrincipal }: Kind): Policy {
  if (paymentMethod === null) return DIRECT
  if (paymentMethod === 'bounty') return BOUNTY
  return forPrincipal ? X402_FOR_PRINCIPAL : X402
}

/** How much a transfer that pays the order brings, and since when it can have been made. */
export const paymentTerms = (
  order: Kind & { readonly createdAt: Date; readonly price?: Usdc | undefined },
): { readonly due: Usdc; readonly notBefore: Date } => ({
  due: order.price ?? ANY_AMOUNT,
  notBefore: policyOf(order).earliestPayment(order.createdAt),
})
