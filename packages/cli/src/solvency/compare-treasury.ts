import { chainOf, isSolana, type Node } from './chain-reads.ts'
import { micros, type NetworkSolvency, usd } from './merkle-proof.ts'

type Compared = { readonly problem: string } | { readonly detail: string; readonly isBelowAnchor: boolean }

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/
const EVM_TRANSACTION = /^0x[0-9a-f]{64}$/

/** The roots that were verified for this network. */
interface Anchored {
  readonly day: string
  readonly micros: bigint
}

/** One spelling of an address or transaction: a node reads an EVM one in any case. */
export const spelled = (network: string, text: string): string =>
  isSolana(network) ? text : text.toLowerCase()

/** Whether the server counts one balance or one payout twice under two spellings. */
function listProblem({ network, treasury, cold, in_flight }: NetworkSolvency): string | undefined {
  const holders = [treasury, ...(cold === null ? [] : [cold.address])].map((one) => spelled(network, one))
  const references = in_flight
    .flatMap(({ reference, replaces }) => [reference, ...replaces])
    .map((one) => spelled(network, one))
  if (!isSolana(network)) {
    const malformed =
      holders.find((one) => !EVM_ADDRESS.test(one)) ?? references.find((one) => !EVM_TRANSACTION.test(one))
    if (malformed !== undefined) return `${malformed} is not an address or a transaction hash`
  }
  if (holders[0] === holders[1]) return 'the cold address is the treasury: one balance is counted twice'
  if (new Set(references).size < references.length) return 'a transaction in flight is listed twice'
  return undefined
}

/** Compares one treasury with the chain. What is in flight counts only as far as the chain shows that it left. */
export async function compareTreasury(
  listed: NetworkSolvency,
  node: Node,
  { maxAgeMs, anchored }: { readonly maxAgeMs: number; readonly anchored: Anchored | undefined },
): Promise<Compared> {
  const { network, treasury, cold, liabilities_usd, ...one } = listed
  const chain = chainOf(network)
  // A time that cannot be read is not a recent one.
  if (!(Date.parse(one.checked_at) >= Date.now() - maxAgeMs))
    return { problem: `the newest snapshot is of ${one.checked_at}` }
  const wrong = listProblem(listed)
  if (wrong !== undefined) return { problem: wrong }
  const inFlight = one.in_flight.reduce((sum, { amount_usd }) => sum + micros(amount_usd), 0n)
  const isWhole = one.in_flight_count === one.in_flight.length
  if (isWhole ? inFlight !== micros(one.in_flight_usd) : inFlight > micros(one.in_flight_usd))
    return { problem: `the transactions in flight add up to ${usd(inFlight)}, not to ${one.in_flight_usd}` }
  const inCold = cold === null ? 0n : await chain.balance(node, cold.address)
  const held = inCold + (await chain.balance(node, treasury))
  let left = 0n
  for (const { reference, replaces, amount_usd } of one.in_flight)
    for (const each of [reference, ...replaces])
      if ((await chain.sent(node, treasury, each)) === micros(amount_usd)) {
        // Only one of a transaction and those that it replaces can be executed.
        left += micros(amount_usd)
        break
      }
  // Only the marketplace knows which vaults hold it, so this part is as it says.
  const inVenues = micros(one.venues_usd ?? '0.00')
  const assets = left + held + inVenues
  const missing = micros(liabilities_usd) - assets
  const where = cold === null ? '' : `, ${usd(inCold)} of it at ${cold.address} as the API says`
  const venues = inVenues > 0n ? `, says that venues hold ${usd(inVenues)}` : ''
  const detail = `holds ${usd(held)}${where}, sent ${usd(left)} in flight${venues}, owes ${liabilities_usd}`
  if (missing > 0n) return { problem: `${detail}: ${usd(missing)} is missing` }
  // Paid out since, or hidden: only the next anchor shows which.
  if (anchored !== undefined && assets < anchored.micros)
    return {
      detail: `${detail} as the API says, but owed ${usd(anchored.micros)} in the anchor of ${anchored.day}: ${usd(anchored.micros - assets)} was paid out since, or is missing`,
      isBelowAnchor: true,
    }
  return { detail, isBelowAnchor: false }
}
