import { setTimeout as pause } from 'node:timers/promises'
import type { Market } from '@market/sdk'
import type { Check } from '../terminal/printer.ts'
import { compareTreasury, spelled } from './compare-treasury.ts'
import type { NetworkSolvency, ReserveAnchor } from './merkle-proof.ts'

type ByNetwork = Readonly<Record<string, string>>

export interface TreasuryChecks {
  readonly networks: readonly NetworkSolvency[]
  /** The newest anchor, whether verified or not. */
  readonly newest: ReserveAnchor | undefined
  readonly isVerified: boolean
  readonly rpcs: ByNetwork
  readonly tokens: ByNetwork
  /** What the user knows of the treasuries. */
  readonly treasuries: ByNetwork
  readonly tries: number
  readonly waitMs: number
  readonly maxAgeMs: number
}

/** Compares every network that the API lists, that the user names, or that is anchored: the API cannot leave one out. */
export async function checkTreasuries(options: TreasuryChecks, market: Market): Promise<Check[]> {
  const { networks, newest, rpcs, treasuries } = options
  const names = new Set<string>([
    ...networks.map(({ network }) => network),
    ...Object.keys({ ...rpcs, ...treasuries }),
    ...(newest?.networks ?? []).map(({ network }) => network),
  ])
  const checks: Check[] = []
  for (const network of names) {
    const result = await checkTreasury(network, options, market)
    checks.push({ check: `treasury ${network}`, ...result })
  }
  return checks
}

type Outcome = Pick<Check, 'result' | 'detail'>

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

async function compareOnce(
  network: string,
  [one, ...more]: readonly NetworkSolvency[],
  { newest, isVerified, rpcs, tokens, treasuries, maxAgeMs }: TreasuryChecks,
): Promise<Outcome> {
  if (one === undefined) return { result: 'FAILED', detail: 'the API does not list this network' }
  if (more.length > 0) return { result: 'FAILED', detail: 'the API lists this network twice' }
  const known = treasuries[network]
  if (known !== undefined && spelled(network, known) !== spelled(network, one.treasury))
    return { result: 'FAILED', detail: `the API says ${one.treasury}, --treasury is ${known}` }
  const whose = `treasury ${one.treasury}${known === undefined ? ' as the API says' : ''}`
  const [rpc, usdc] = [rpcs[network], tokens[network]]
  if (rpc === undefined || usdc === undefined)
    return {
      result: 'skipped',
      detail: `no --${rpc === undefined ? 'rpc' : 'usdc'} for ${network}; ${whose}`,
    }
  const entry = newest?.networks.find((each) => each.network === network)
  const anchored =
    newest === undefined || entry === undefined || !isVerified
      ? undefined
      : { day: newest.day, micros: BigInt(entry.total_micros) }
  const compared = await compareTreasury(one, { rpc, usdc }, { maxAgeMs, anchored })
  if ('problem' in compared) return { result: 'FAILED', detail: `${compared.problem}; ${whose}` }
  return { result: compared.isBelowAnchor ? 'warning' : 'ok', detail: `${compared.detail}; ${whose}` }
}
