import { word } from '../parse-rpc.ts'
import { callEach } from '../rpc.ts'
import { readCalled, simulatePayments } from './simulate.ts'
import { askMax, callAt, type VaultAt, withdraw } from './vault-calls.ts'

/** The search ends at 0.01 USDC, or after these rounds: then it is exact to a 16-millionth of the amount. */
const PRECISION = 10_000n
const MAX_ROUNDS = 12
/** Three amounts per request, because a round trip takes longer than a simulation. */
const PARTS = 4n
/** Vaults round the shares of a withdrawal up, so that the last unit may be missing. */
const ROUNDING = 2n

export interface Withdrawable {
  readonly amount: bigint
  /** The vault accepted a withdrawal and paid less than was asked for. */
  readonly isUnderpaid: boolean
}

const NOTHING: Withdrawable = { amount: 0n, isUnderpaid: false }

/** The largest of these amounts that the vault pays. Undefined when it pays none of them. */
const largestPaid = async (at: VaultAt, amounts: readonly bigint[]): Promise<Withdrawable | undefined> => {
  const descending = amounts.filter((amount) => amount > 0n).toSorted((a, b) => (a > b ? -1 : 1))
  const payments = await simulatePayments(
    at,
    descending.map((asked) => ({ call: withdraw(at, asked), asked })),
  )
  if (payments.some((paid, index) => paid !== undefined && paid < (descending[index] ?? 0n)))
    return { amount: 0n, isUnderpaid: true }
  const amount = descending.find((_, index) => payments[index] !== undefined)
  return amount === undefined ? undefined : { amount, isUnderpaid: false }
}

const maxWithdraw = async (at: VaultAt): Promise<bigint> => {
  const [response] = await callEach(at.node, at.chainId, [callAt(askMax(at, 'maxWithdraw'), at.block)])
  const called = readCalled(response)
  return called.kind === 'returned' ? word(called.data) : 0n
}

/**
 * How much of an amount the vault would pay to the treasury now. `maxWithdraw` is only a first guess: some vaults always answer 0, and
 * others do not know what they can pay.
 */
export const withdrawableAt = async (at: VaultAt, wanted: bigint): Promise<Withdrawable> => {
  if (wanted <= 0n) return NOTHING
  const rounded = Array.from({ length: Number(ROUNDING) + 1 }, (_, less) => wanted - BigInt(less))
  const whole = await largestPaid(at, rounded)
  if (whole !== undefined) return whole
  const max = await maxWithdraw(at)
  const guessed = max > 0n && max < wanted ? await largestPaid(at, [max]) : undefined
  return guessed ?? search(at, wanted)
}

const search = async (at: VaultAt, wanted: bigint): Promise<Withdrawable> => {
  let [low, high] = [0n, wanted]
  for (let round = 0; round < MAX_ROUNDS && high - low > PRECISION; round += 1) {
    const step = (high - low) / PARTS
    const amounts = [low + step, low + 2n * step, low + 3n * step]
    const paid = await largestPaid(at, amounts)
    if (paid?.isUnderpaid) return paid
    const next = amounts.find((amount) => amount > (paid?.amount ?? low))
    low = paid?.amount ?? low
    high = next ?? high
  }
  return { amount: low, isUnderpaid: false }
}
