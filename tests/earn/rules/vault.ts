/** A model of an ERC-4626 vault in USDC: it earns, loses, lends its money out, charges fees, is given things, and can lie. */
export interface VaultTerms {
  /** Virtual shares of the vault itself, which protect its own depositors. 10^6: its shares have 12 decimals. */
  readonly virtualShares: bigint
  readonly entryFeeBps: bigint
  readonly exitFeeBps: bigint
  /** Whether it reverts instead of paying nothing for shares that are worth nothing. */
  readonly revertsAtZero?: boolean
}

export interface Receipt {
  /** The vault's shares that were burned or minted. */
  readonly shares: bigint
  /** The USDC that moved. */
  readonly assets: bigint
}

const BPS = 10_000n

export class Vault {
  /** What it really has, liquid and lent. */
  assets = 0n
  liquid = 0n
  supply = 0n
  readonly terms: VaultTerms

  constructor(terms: VaultTerms) {
    this.terms = terms
  }

  #gross = (shares: bigint): bigint =>
    (shares * (this.assets + 1n)) / (this.supply + this.terms.virtualShares)

  /** What it pays for shares, with enough liquidity. Fees and rests are the vault's. */
  valueOf(shares: bigint): bigint {
    const gross = this.#gross(shares)
    return gross - ceilDiv(gross * this.terms.exitFeeBps, BPS)
  }

  sharesFor(assets: bigint): bigint {
    const net = assets - ceilDiv(assets * this.terms.entryFeeBps, BPS)
    return (net * (this.supply + this.terms.virtualShares)) / (this.assets + 1n)
  }

  deposit(assets: bigint): Receipt {
    const shares = this.sharesFor(assets)
    const net = assets - ceilDiv(assets * this.terms.entryFeeBps, BPS)
    this.assets += net
    this.liquid += net
    this.supply += shares
    return { shares, assets }
  }

  /** Undefined: it reverts, because it lacks liquidity. */
  redeem(shares: bigint): Receipt | undefined {
    const gross = this.#gross(shares)
    if (gross > this.liquid || shares > this.supply) return undefined
    const assets = this.valueOf(shares)
    if (assets === 0n && this.terms.revertsAtZero) return undefined
    this.assets -= gross
    this.liquid -= gross
    this.supply -= shares
    return { shares, assets }
  }

  /** How many of these shares it would redeem now. By bisection, as a client simulates it. */
  redeemable(shares: bigint): bigint {
    if (this.terms.revertsAtZero && this.valueOf(shares) === 0n) return 0n
    if (this.#gross(shares) <= this.liquid) return shares
    let [low, high] = [0n, shares]
    while (high - low > 1n) {
      const middle = (low + high) / 2n
      if (this.#gross(middle) <= this.liquid) low = middle
      else high = middle
    }
    return low
  }

  lendAll(): void {
    this.liquid = 0n
  }

  repay(assets: bigint): void {
    const lent = this.assets - this.liquid
    this.liquid += assets < lent ? assets : lent
  }

  gain(assets: bigint): void {
    if (this.supply > 0n) this.assets += assets
  }

  lose(assets: bigint): void {
    this.assets -= assets < this.assets ? assets : this.assets
    if (this.liquid > this.assets) this.liquid = this.assets
  }

  /** USDC that somebody gives to it. */
  gift(assets: bigint): void {
    this.assets += assets
    this.liquid += assets
  }
}

export const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const sum = (all: Iterable<bigint>): bigint => {
  let total = 0n
  for (const one of all) total += one
  return total
}
