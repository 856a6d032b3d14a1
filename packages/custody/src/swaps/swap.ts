import type { SwapId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'

/** `ordered` until it is submitted, then `pending` until the chain shows the outcome. */
export type SwapStatus = 'ordered' | 'pending' | 'confirmed' | 'failed'

export interface Swap {
  readonly id: SwapId
  readonly userId: string
  /** The taker: sends USDC, receives SOL, signs. */
  readonly wallet: string
  readonly amount: Usdc
  /** In lamports. */
  readonly minOut: bigint
  /** SHA-256 of the exact message, in hex. */
  readonly messageHash: string
  /** The venue's id of the quote. */
  readonly makerRequest: string
  readonly lastValidHeight: bigint
  readonly status: SwapStatus
  readonly signature: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly executedAt: Date | null
}

const BPS = 10_000n
/** How much worse than our own price a quote may be. */
const MAX_BELOW_PRICE_BPS = 500n
/** 1 SOL is 10^9 lamports and 1 USD is 10^6 micros. */
const LAMPORTS_PER_SOL_PER_MICRO = 1_000n

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/** The least output of a quote with this slippage, rounded up. */
export const withSlippage = (outLamports: bigint, slippageBps: number): bigint =>
  divideUp(outLamports * (BPS - BigInt(slippageBps)), BPS)

/**
 * The least output that is acceptable at our own price of SOL, a decimal such as "142.50", rounded up. Undefined when the
 * price is 0, which says nothing.
 */
export function leastAtPrice(amount: Usdc, priceUsd: string): bigint | undefined {
  const [whole = '', fraction = ''] = priceUsd.split('.')
  const price = BigInt(whole + fraction)
  if (price === 0n) return undefined
  const scale = 10n ** BigInt(fraction.length)
  return divideUp(amount * LAMPORTS_PER_SOL_PER_MICRO * scale * (BPS - MAX_BELOW_PRICE_BPS), price * BPS)
}

/** Lamports as SOL with 2 to 9 decimals. */
export function formatSol(lamports: bigint): string {
  const digits = lamports.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9).replace(/0{1,7}$/, '')}`
}
