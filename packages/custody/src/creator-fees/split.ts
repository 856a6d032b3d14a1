import type { TokenMode } from '../tokens/index.ts'

/** Who gets what of a creator fee, in lamports. The shares sum to the fee. */
export interface FeeShares {
  readonly agent: bigint
  readonly partner: bigint
  readonly buyback: bigint
}

const WHOLE_BPS = 10_000n

/** The shares of the launch partner and of the platform-token buyback in basis points. The agent gets the remainder. */
const SPLITS: Readonly<Record<TokenMode, { readonly partner: bigint; readonly buyback: bigint }>> = {
  token2022: { partner: 2_333n, buyback: 1_167n },
  pumpfun: { partner: 0n, buyback: 1_000n },
}

/** The other shares are rounded down, so the agent gets what rounding leaves: less than two lamports. */
export function splitFees(lamports: bigint, mode: TokenMode): FeeShares {
  if (lamports < 0n) throw new RangeError(`${lamports} lamports is negative`)
  const bps = SPLITS[mode]
  const partner = (lamports * bps.partner) / WHOLE_BPS
  const buyback = (lamports * bps.buyback) / WHOLE_BPS
  return { agent: lamports - partner - buyback, partner, buyback }
}
