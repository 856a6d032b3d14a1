import { type Usdc, usdc } from '@market/kernel/money'

/** Shares are counted in units of 10^-12: of an empty pool, one share is worth 1 USD. */
export const SHARE = 10n ** 12n

/**
 * Virtual shares and a virtual micro-dollar belong to nobody: whoever inflates the price of an almost empty pool gives most
 * of it to them.
 */
const VIRTUAL_SHARES = 1_000_000n
const VIRTUAL_MICROS = 1n

/** The first deposit into a pool without shares. */
export const FIRST_DEPOSIT_MIN = usdc(100_000_000n)

/** What belongs to all depositors, and their shares. */
export interface Equity {
  readonly micros: bigint
  readonly shares: bigint
}

/** Rounded down: the rest stays in the pool. */
export const sharesFor = (value: Usdc, { micros, shares }: Equity): bigint =>
  (value * (shares + VIRTUAL_SHARES)) / (micros + VIRTUAL_MICROS)

/** Rounded down: the rest stays in the pool. */
export const valueOfShares = (burned: bigint, { micros, shares }: Equity): Usdc =>
  usdc((burned * (micros + VIRTUAL_MICROS)) / (shares + VIRTUAL_SHARES))

/** A deposit may lose this much at once: rounding, and what a venue keeps. */
const toleranceOf = (amount: Usdc): bigint => {
  const part = amount / 10_000n
  return part > 2n ? part : 2n
}

export type MintProblem = 'below_first_minimum' | 'worth_nothing' | 'loses_too_much'

/**
 * Why a deposit of this amount cannot enter the pool; undefined when it can. Checked before the money goes to the venue: what
 * comes back as value can be a little less than the minimum, and gets shares all the same.
 */
export function mintProblem(amount: Usdc, equity: Equity): MintProblem | undefined {
  if (equity.shares === 0n && amount < FIRST_DEPOSIT_MIN) return 'below_first_minimum'
  const minted = sharesFor(amount, equity)
  if (minted === 0n) return 'worth_nothing'
  const after = { micros: equity.micros + amount, shares: equity.shares + minted }
  return amount - valueOfShares(minted, after) > toleranceOf(amount) ? 'loses_too_much' : undefined
}
