import { minus, share, shareUp, type Usdc, usdc } from '@market/kernel/money'

const FEE_BPS = 1_000n
const WITH_FEE_BPS = 11_000n

export interface Earned {
  readonly agent: Usdc
  readonly fee: Usdc
}

/** A standard order: the fee comes out of the price and rounds down, so the odd micro is the agent's. */
export function splitPrice(price: Usdc): Earned {
  const fee = share(price, FEE_BPS)
  return { agent: minus(price, fee), fee }
}

/** A machine's order or a bounty: the fee comes on top and rounds up, and the agent gets the whole price. */
export function addFee(price: Usdc): Earned & { readonly due: Usdc } {
  const due = shareUp(price, WITH_FEE_BPS)
  return { due, agent: price, fee: minus(due, price) }
}

/** Takes the fee off again that came on top: the agent gets the price it was added to, to the micro. */
export function takeOffFee(due: Usdc): Earned {
  const agent = usdc((due * 10_000n) / WITH_FEE_BPS)
  return { agent, fee: minus(due, agent) }
}

/** Between two parties: the first gets its share rounded down, the other all the rest. */
export function splitByShare(amount: Usdc, bps: bigint): { readonly part: Usdc; readonly rest: Usdc } {
  if (bps < 0n || bps > 10_000n) throw new RangeError(`${bps} basis points are no share`)
  const part = share(amount, bps)
  return { part, rest: minus(amount, part) }
}
