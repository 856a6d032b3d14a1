import { larger, smaller } from '../../bigints.ts'
import { word } from '../parse-rpc.ts'
import { callEach } from '../rpc.ts'
import { readCalled, simulatePayments } from './simulate.ts'
import { askMax, callAt, redeem, type VaultAt } from './vault-calls.ts'

/** The search ends after these rounds, exact to a 16-millionth of the shares. */
const MAX_ROUNDS = 12
/** Three amounts per request, because a round trip takes longer than a simulation. */
const PARTS = 4n

interface Redeemable {
  readonly shares: bigint
  /** What the vault would really pay for them. */
  readonly assets: bigint
}

const NOTHING: Redeemable = { shares: 0n, assets: 0n }

/** The largest of these amounts of shares that the vault pays for. Undefined when it pays for none of them. */
const largestPaid = async (at: VaultAt, amounts: readonly bigint[]): Promise<Redeemable | undefined> => {
  const descending = amounts.filter((shares) => shares > 0n).toSorted((a, b) => (a > b ? -1 : 1))
  const payments = await simulatePayments(
    at,
    descending.map((shares) => redeem(at, shares)),
  )
  const found = descending.findIndex((_, index) => payments[index] !== undefined)
  return found === -1 ? undefined : { shares: descending[found] ?? 0n, assets: payments[found] ?? 0n }
}

const maxRedeem = async (at: VaultAt): Promise<bigint> => {
  const [response] = await callEach(at.node, at.chainId, [callAt(askMax(at, 'maxRedeem'), at.block)])
  const called = readCalled(response)
  return called.kind === 'returned' ? word(called.data) : 0n
}

/**
 * How many of some shares the vault would redeem to the treasury now, and for how much. `maxRedeem` is only a first guess: some vaults
 * always answer 0, and others do not know what they can pay.
 */
export const redeemableAt = async (at: VaultAt, wanted: bigint): Promise<Redeemable> => {
  if (wanted <= 0n) return NOTHING
  const whole = await largestPaid(at, [wanted])
  if (whole !== undefined) return whole
  const max = await maxRedeem(at)
  const guessed = max > 0n && max < wanted ? await largestPaid(at, [max]) : undefined
  return guessed ?? search(at, wanted)
}

const search = async (at: VaultAt, wanted: bigint): Promise<Redeemable> => {
  let [found, high] = [NOTHING, wanted]
  for (let round = 0; round < MAX_ROUNDS && high - found.shares > larger(1n, wanted >> 24n); round += 1) {
    const step = (high - found.shares) / PARTS
    if (step === 0n) return found
    const amounts = [1n, 2n, 3n].map((part) => found.shares + part * step)
    const paid = (await largestPaid(at, amounts)) ?? found
    high = amounts.filter((amount) => amount > paid.shares).reduce(smaller, high)
    found = paid
  }
  return found
}
