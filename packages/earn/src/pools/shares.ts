import { type Usdc, usdc, ZERO } from '@market/kernel/money'

/** Shares are counted in units of 10^-12: of an empty pool, one share costs 1 USD. */
export const SHARE = 10n ** 12n
const UNITS_PER_MICRO = 1_000_000n

/** The first deposit into a pool without shares. */
export const FIRST_DEPOSIT_MIN = usdc(100_000_000n)
/** Almost everything was lost: the numbers of shares would grow without end. Another market is opened instead. */
const LEAST_PRICE = usdc(1_000n)

/** How many shares of the vault are behind how many of the pool. */
export interface Ratio {
  readonly vaultShares: bigint
  readonly shares: bigint
}

/** The vault's shares behind shares of the pool. Rounded down: the rest is nobody's. */
export const vaultSharesOf = (shares: bigint, ratio: Ratio | null): bigint =>
  ratio === null ? 0n : (shares * ratio.vaultShares) / ratio.shares

/** The shares of the pool that stand for shares of the vault. Rounded up: never fewer end than the vault's shares leave. */
const sharesFor = (vaultShares: bigint, ratio: Ratio): bigint =>
  (vaultShares * ratio.shares + ratio.vaultShares - 1n) / ratio.vaultShares

/** What the first receipt fixes: the pool's shares cost 1 USD. */
export const firstRatio = (received: bigint, amount: bigint): Ratio => ({
  vaultShares: received,
  shares: amount * UNITS_PER_MICRO,
})

/** What each part of a deploy gets of the vault's shares that its receipt brought. Rounded down, each by itself. */
export const minted = (received: bigint, part: bigint, total: bigint, ratio: Ratio): bigint =>
  ratio.vaultShares === 0n ? 0n : (received * part * ratio.shares) / (total * ratio.vaultShares)

/**
 * Divides a whole number in proportion to weights. The parts add up to it, and each is the exact part rounded down or up, so that
 * nothing is left over and nobody is more than one unit away.
 */
export function divide(total: bigint, weights: readonly bigint[]): bigint[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0n)
  let [seen, given] = [0n, 0n]
  return weights.map((weight) => {
    seen += weight
    const upTo = all === 0n ? 0n : (total * seen) / all
    const part = upTo - given
    given = upTo
    return part
  })
}

/** What a recall takes from each open withdrawal: the same fraction of all. */
export function recallParts(
  open: readonly bigint[],
  { redeemed, whole }: { readonly redeemed: bigint; readonly whole: bigint },
  ratio: Ratio,
): bigint[] {
  const wanted = open.reduce((sum, shares) => sum + shares, 0n)
  const taken = redeemed === whole ? wanted : sharesFor(redeemed, ratio)
  return divide(taken < wanted ? taken : wanted, open)
}

/** Of the shares in a recall, those whose vault shares were not redeemed: they stay shares. */
export function unredeemed(
  parts: readonly bigint[],
  { asked, redeemed }: { readonly asked: bigint; readonly redeemed: bigint },
): bigint[] {
  if (redeemed >= asked) return parts.map(() => 0n)
  const taken = parts.reduce((sum, shares) => sum + shares, 0n)
  return divide((taken * (asked - redeemed)) / asked, parts)
}

/** The ratio after vault shares were lost without a payment: each share of the pool bears the same part, if too few are left. */
export const ratioAfterLoss = (left: bigint, shares: bigint, ratio: Ratio | null): Ratio | null =>
  ratio !== null && left * ratio.shares < ratio.vaultShares * shares ? { vaultShares: left, shares } : ratio

/** What the vault would pay for some of its shares. */
export interface Price {
  readonly value: Usdc
  readonly vaultShares: bigint
}

export const valueOfVaultShares = (vaultShares: bigint, price: Price | null): Usdc =>
  price === null || price.vaultShares === 0n ? ZERO : usdc((vaultShares * price.value) / price.vaultShares)

/** What shares of the pool are worth at a price. It only says what is shown and what is too small: it never divides money. */
export const valueOfShares = (shares: bigint, ratio: Ratio | null, price: Price | null): Usdc =>
  valueOfVaultShares(vaultSharesOf(shares, ratio), price)

/** A deposit may lose this much at once: rounding, and what a venue keeps. */
const toleranceOf = (amount: bigint): bigint => (amount / 10_000n > 2n ? amount / 10_000n : 2n)

export type MintProblem = 'below_first_minimum' | 'loses_too_much' | 'not_depositable'

/** Why a deposit of this amount cannot enter the pool; undefined when it can. A pool without shares has no ratio. */
export function mintProblem(amount: Usdc, ratio: Ratio | null, price: Price | null): MintProblem | undefined {
  if (ratio === null) return amount < FIRST_DEPOSIT_MIN ? 'below_first_minimum' : undefined
  if (valueOfShares(SHARE, ratio, price) < LEAST_PRICE) return 'not_depositable'
  // The smallest unit can be worth much, when somebody has raised the price of the vault's shares.
  const unit = valueOfVaultShares(ratio.vaultShares / ratio.shares + 1n, price)
  return unit > toleranceOf(amount) ? 'loses_too_much' : undefined
}
