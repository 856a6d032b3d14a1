import { setTimeout as pause } from 'node:timers/promises'
import type { Market } from '@market/sdk'
import { type NetworkSolvency, type ReserveAnchor, type ReserveCheck, spelled } from '@market/solvency'
import { compareTreasury } from './compare-treasury.ts'
import { type Known, namedNetworks } from './known.ts'

export interface TreasuryChecks {
  readonly networks: readonly NetworkSolvency[]
  /** The newest anchor, whether verified or not. */
  readonly newest: ReserveAnchor | undefined
  readonly isVerified: boolean
  /** The treasuries by network that signed the verified anchor, which contains a leaf of the user. */
  readonly signers: ReadonlyMap<string, string>
  readonly known: Known
  readonly tries: number
  readonly waitMs: number
  readonly maxAgeMs: number
}

/** Compares every network that the API lists, that the user names, or that is anchored: the API cannot leave one out. */
export async function checkTreasuries(options: TreasuryChecks, market: Market): Promise<ReserveCheck[]> {
  const { networks, newest, known } = options
  const names = new Set<string>([
    ...networks.map(({ network }) => network),
    ...namedNetworks(known),
    ...(newest?.networks ?? []).map(({ network }) => network),
  ])
  if (names.size === 0) return [{ result: 'FAILED', check: 'treasuries', detail: 'the API lists no network' }]
  const checks: ReserveCheck[] = []
  for (const network of names) {
    const result = await checkTreasury(network, options, market)
    checks.push({ check: `treasury ${network}`, ...result })
  }
  return checks
}

type Outcome = Omit<ReserveCheck, 'check'>

async function checkTreasury(network: string, options: TreasuryChecks, market: Market): Promise<Outcome> {
  const { tries, waitMs } = options
  let { networks } = options
  for (let n = 1; ; n++) {
    const listed = networks.filter((entry) => entry.network === network)
    const outcome = await compareOnce(network, listed, options)
    if (outcome.result !== 'FAILED' || n >= tries) return outcome
    // A payout may have left after the snapshot: the next snapshot lists it.
    await pause(waitMs)
    networks = await market.getSolvency()
  }
}

const failed = (detail: string): Outcome => ({ result: 'FAILED', detail })

async function compareOnce(
  network: string,
  [one, ...more]: readonly NetworkSolvency[],
  { newest, isVerified, signers, known, maxAgeMs }: TreasuryChecks,
): Promise<Outcome> {
  const { rpcs, tokens, treasuries, colds, venues } = known
  if (one === undefined) return failed('the API does not list this network')
  if (more.length > 0) return failed('the API lists this network twice')
  const [treasury, cold] = [treasuries[network], colds[network]]
  const isOther = (address: string, said: string | undefined) =>
    said === undefined || spelled(network, address) !== spelled(network, said)
  if (treasury !== undefined && isOther(treasury, one.treasury))
    return failed(`the API says ${one.treasury}, --treasury is ${treasury}`)
  if (cold !== undefined && isOther(cold, one.cold?.address))
    return failed(`the API says the cold address is ${one.cold?.address ?? 'none'}, --cold is ${cold}`)
  const [rpc, usdc] = [rpcs[network], tokens[network]]
  if (rpc === undefined || usdc === undefined) {
    const missing = [
      ...(rpc === undefined ? [`--rpc ${network}=https://…`] : []),
      ...(usdc === undefined ? [`--usdc ${network}=<address>`] : []),
    ]
    const detail = `not compared: no ${rpc === undefined ? '--rpc' : '--usdc'} for ${network}; treasury ${one.treasury}${treasury === undefined ? ' as the API says' : ''}`
    return { result: 'skipped', detail, missing }
  }
  const entry = newest?.networks.find((each) => each.network === network)
  const anchored =
    newest === undefined || !isVerified
      ? undefined
      : { day: newest.day, micros: entry === undefined ? undefined : BigInt(entry.total_micros) }
  return compareTreasury(one, {
    node: { rpc, usdc },
    maxAgeMs,
    anchored,
    isTreasuryKnown: treasury !== undefined,
    isTreasurySigned: signers.get(network) === spelled(network, one.treasury),
    isColdKnown: cold !== undefined,
    venues: venues[network] ?? [],
  })
}
