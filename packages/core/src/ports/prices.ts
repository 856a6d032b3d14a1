/** Decimal strings, never in exponent form. */
export interface TokenPrice {
  readonly priceUsd: string
  /** Null when the source does not know it. */
  readonly marketCapUsd: string | null
}

/** A source of token prices. */
export interface Prices {
  /** The price of each mint; null for one that the source does not know. Throws when the source does not respond. */
  findPrices(mints: readonly string[]): Promise<ReadonlyMap<string, TokenPrice | null>>
}
