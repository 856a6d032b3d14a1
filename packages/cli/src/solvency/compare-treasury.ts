import { chainOf, type Node } from './chain-reads.ts'
import { micros, type NetworkSolvency, usd } from './merkle-proof.ts'

type Compared = { readonly problem: string } | { readonly detail: string }

/** Compares one treasury with the chain. What is in flight counts only as far as the chain shows that it left. */
export async function compareTreasury(
  { network, treasury, cold, liabilities_usd, ...one }: NetworkSolvency,
  node: Node,
  maxAgeMs: number,
): Promise<Compared> {
  const chain = chainOf(network)
  if (Date.parse(one.checked_at) < Date.now() - maxAgeMs)
    return { problem: `the newest snapshot is of ${one.checked_at}` }
  const listed = one.in_flight.reduce((sum, { amount_usd }) => sum + micros(amount_usd), 0n)
  const isWhole = one.in_flight_count === one.in_flight.length
  if (isWhole ? listed !== micros(one.in_flight_usd) : listed > micros(one.in_flight_usd))
    return { problem: `the transactions in flight add up to ${usd(listed)}, not to ${one.in_flight_usd}` }
  const inCold = cold === null ? 0n : await chain.balance(node, cold.address)
  const held = inCold + (await chain.balance(node, treasury))
  const references = one.in_flight.flatMap(({ reference, replaces }) => [reference, ...replaces])
  if (new Set(references).size < references.length)
    return { problem: 'a transaction in flight is listed twice' }
  let left = 0n
  for (const { reference, replaces, amount_usd } of one.in_flight)
    for (const each of [reference, ...replaces])
      if ((await chain.sent(node, treasury, each)) === micros(amount_usd)) left += micros(amount_usd)
  // Only the marketplace knows which vaults hold it, so this part is as it says.
  const inVenues = micros(one.venues_usd ?? '0.00')
  const missing = micros(liabilities_usd) - left - held - inVenues
  const where = cold === null ? '' : `, ${usd(inCold)} of it at ${cold.address}`
  const venues = inVenues > 0n ? `, says that venues hold ${usd(inVenues)}` : ''
  const detail = `holds ${usd(held)}${where}, sent ${usd(left)} in flight${venues}, owes ${liabilities_usd}`
  return missing > 0n ? { problem: `${detail}: ${usd(missing)} is missing` } : { detail }
}
