import { minus, share, shareUp, type Usdc, usdc } from '@market/kernel/money'

/** Of a standard order, and on top of an x402 order or a bounty. */
export const FEE_BPS = 1_000n
const WITH_FEE_BPS = 10_000n + FEE_BPS

export interface Earned {
  readonly agent: Usdc
  readonly fee: Usdc
}

/** A standard order: the fee is part of the price and is rounded down in favour of the agent. */
export function splitPrice(price: Usdc): Earned {
  const fee = share(price, FEE_BPS)
  return { agent: minus(price, fee), fee }
}

/** An x402 order or a bounty: the fee is added to the price and rounded up; the agent gets the whole price. */
export function addFee(price: Usdc): Earned & { readonly due: Usdc } {
  const due = shareUp(price, WITH_FEE_BPS)
  return { due, agent: price, fee: minus(due, price) }
}

/** The inverse of `addFee`, exact to the micro. */
export function takeOffFee(due: Usdc): Earned {
  const agent = usdc((due * 10_000n) / WITH_FEE_BPS)
  return { agent, fee: minus(due, agent) }
}

/** The first part is rounded down, the second is the rest. */
export function splitByShare(amount: Usdc, bps: bigint): { readonly part: Usdc; readonly rest: Usdc } {
  if (bps < 0n || bps > 10_000n) throw new RangeError(`A share must be 0 to 10000 basis points, not ${bps}`)
  const part = share(amount, bps)
  return { part, rest: minus(amount, part) }
}
