import {
  chainOf,
  isAmount,
  isSolana,
  micros,
  type NetworkSolvency,
  type Node,
  type ReserveCheck,
  readVenues,
  spelled,
  usd,
  type Venue,
} from '@market/solvency'

type Compared = Pick<ReserveCheck, 'result' | 'detail' | 'missing'>

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/
const EVM_TRANSACTION = /^0x[0-9a-f]{64}$/

/** The roots that were verified for this network. */
interface Anchored {
  readonly day: string
  /** Undefined when the network is not part of the anchor. */
  readonly micros: bigint | undefined
}

export interface Comparison {
  readonly node: Node
  readonly maxAgeMs: number
  /** Undefined when no anchor was verified. */
  readonly anchored: Anchored | undefined
  /** Whether the treasury signed the anchored roots, which contain a leaf of the user. */
  readonly isTreasurySigned: boolean
  /** Whether the user named the treasury and the cold address. */
  readonly isTreasuryKnown: boolean
  readonly isColdKnown: boolean
  readonly venues: readonly Venue[]
}

/** Whether an amount is malformed, or the server counts one balance or one payout twice under two spellings. */
function listProblem(listed: NetworkSolvency, venues: readonly Venue[]): string | undefined {
  const { network, treasury, cold, in_flight, liabilities_usd, in_flight_usd, venues_usd } = listed
  const amounts = [liabilities_usd, in_flight_usd, venues_usd, ...in_flight.map((one) => one.amount_usd)]
  const noAmount = amounts.find((amount) => !isAmount(amount))
  if (noAmount !== undefined) return `${noAmount} is not an amount`
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
  if (venues.some(({ wallet }) => holders.includes(wallet)))
    return 'the wallet of --venue is the treasury or the cold address: one balance is counted twice'
  if (new Set(references).size < references.length) return 'a transaction in flight is listed twice'
  return undefined
}

/** A part of the assets. Without a reason it is proven: it is at an address that the user named. */
interface Part {
  readonly amount: bigint
  readonly what: string
  readonly unproven?: string | undefined
  readonly missing?: string | undefined
}

const total = (parts: readonly Part[]): bigint => parts.reduce((sum, { amount }) => sum + amount, 0n)

/** Compares what is owed with what is proven, and else with what the API says beside it. */
export async function compareTreasury(listed: NetworkSolvency, options: Comparison): Promise<Compared> {
  const { network, treasury, liabilities_usd, checked_at } = listed
  const { anchored, maxAgeMs, isTreasuryKnown, isTreasurySigned } = options
  // A time that cannot be read is not a recent one.
  if (!(Date.parse(checked_at) >= Date.now() - maxAgeMs))
    return { result: 'FAILED', detail: `the newest snapshot is of ${checked_at}` }
  const wrong = listProblem(listed, options.venues) ?? inFlightProblem(listed)
  if (wrong !== undefined) return { result: 'FAILED', detail: wrong }
  const parts = await readParts(listed, options)
  const owed = micros(liabilities_usd)
  const source = isTreasurySigned ? ', which signed the anchor' : ' as the API says'
  const whose = `treasury ${treasury}${isTreasuryKnown ? '' : source}`
  const assets = parts.map(({ what }) => what).join(', ')
  const before = anchored?.micros === undefined ? '' : `, owed ${usd(anchored.micros)} on ${anchored.day}`
  const detail = `${assets}, owes ${liabilities_usd} as the API says${before}; ${whose}`
  if (total(parts) < owed)
    return { result: 'FAILED', detail: `${detail}: ${usd(owed - total(parts))} is missing` }
  const proven = total(parts.filter(({ unproven }) => unproven === undefined))
  const due = anchored?.micros !== undefined && anchored.micros > owed ? anchored.micros : owed
  const missing: string[] = []
  const reasons: string[] = []
  if (anchored !== undefined && anchored.micros === undefined)
    reasons.push(`${network} is not part of the anchor of ${anchored.day}, so only the API says what is owed`)
  if (proven < due) {
    for (const part of parts) {
      if (part.unproven === undefined || part.amount === 0n) continue
      reasons.push(part.unproven)
      if (part.missing !== undefined) missing.push(part.missing)
    }
    reasons.push(...paidOutSince(parts, anchored))
  }
  if (reasons.length === 0) return { result: 'ok', detail }
  return { result: 'warning', detail: `${detail}. ${usd(proven)} is proven: ${reasons.join('; ')}`, missing }
}

/** Paid out since, or hidden: only the next anchor shows which. */
function paidOutSince(parts: readonly Part[], anchored: Anchored | undefined): string[] {
  const rest = (anchored?.micros ?? 0n) - total(parts)
  return rest > 0n ? [`${usd(rest)} of the anchored total was paid out since, or is missing`] : []
}

function inFlightProblem({ in_flight, in_flight_count, in_flight_usd }: NetworkSolvency) {
  const sum = in_flight.reduce((all, { amount_usd }) => all + micros(amount_usd), 0n)
  const isWhole = in_flight_count === in_flight.length
  return (isWhole ? sum !== micros(in_flight_usd) : sum > micros(in_flight_usd))
    ? `the transactions in flight add up to ${usd(sum)}, not to ${in_flight_usd}`
    : undefined
}

async function readParts(listed: NetworkSolvency, options: Comparison): Promise<Part[]> {
  const { network, treasury, cold } = listed
  const { node, venues, isTreasuryKnown, isTreasurySigned, isColdKnown } = options
  const chain = chainOf(network)
  const inCold = cold === null ? 0n : await chain.balance(node, cold.address)
  const held = await chain.balance(node, treasury)
  const inVenues = venues.length === 0 ? 0n : await readVenues(node, venues, listed.earn)
  const left = await readInFlight(listed, node)
  const parts: Part[] = [
    {
      amount: held,
      what: `holds ${usd(held)}`,
      unproven:
        isTreasuryKnown || isTreasurySigned
          ? undefined
          : `only the API says that ${treasury} is the treasury`,
      missing: `--treasury ${network}=<address>`,
    },
  ]
  if (cold !== null)
    parts.push({
      amount: inCold,
      what: `${usd(inCold)} at the cold address ${cold.address}`,
      unproven: isColdKnown ? undefined : `only the API says that ${cold.address} is the cold address`,
      missing: `--cold ${network}=<address>`,
    })
  if (venues.length > 0) parts.push({ amount: inVenues, what: `${usd(inVenues)} on its way to venues` })
  const said = micros(listed.venues_usd) - inVenues
  if (said > 0n)
    parts.push({
      amount: said,
      what: `${usd(said)} ${venues.length > 0 ? 'more ' : ''}on its way to venues as the API says`,
      unproven: `only the API says that ${usd(said)} is on its way to venues`,
      missing: `--venue ${network}=<wallet>:<vault>`,
    })
  if (left > 0n)
    parts.push({
      amount: left,
      what: `sent ${usd(left)} in flight`,
      unproven: `${usd(left)} left the treasury in the last hour, and only the API says that it was owed to the payees. Run this again when it is final`,
    })
  return parts
}

/** What the chain shows that it left the treasury. */
async function readInFlight({ network, treasury, in_flight }: NetworkSolvency, node: Node): Promise<bigint> {
  let left = 0n
  for (const { reference, replaces, amount_usd } of in_flight)
    for (const each of [reference, ...replaces])
      if ((await chainOf(network).sent(node, treasury, each)) === micros(amount_usd)) {
        // Only one of a transaction and those that it replaces can be executed.
        left += micros(amount_usd)
        break
      }
  return left
}
