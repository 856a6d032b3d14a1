import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import type { AgreedBalance, Chain } from '@market/core/ports/chain'
import { readAtOnce, type Tx } from '@market/database/transact'
import { earlier, MINUTE, SECOND } from '@market/kernel/clock'
import { formatUsd, type Usdc, usdc, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { totals } from '../ledger/index.ts'
import { findFinalHeight, sumUnfinal } from '../payments/index.ts'
import { findInFlight, inFlight, sumMovingToCold, sumMovingToVenues, sumSettled } from '../payouts/index.ts'
import { findLiabilities, type Liability, type Parts } from './leaves/store.ts'
import { sumReturned } from './return-from-cold.ts'
import {
  type BalancesAfter,
  type BalancesBefore,
  certainlyMissing,
  type InFlightList,
  type LedgerBalances,
  type Snapshot,
} from './snapshot.ts'

/** A shortage counts after this many readings: a node that was a few blocks behind has caught up by then. */
const READINGS = 3
const PAUSE_MS = 1 * SECOND

/** More than clocks of workers differ plus the time of a settlement: settled payouts are summed from this time on. */
const SETTLED_MS = 5 * MINUTE

/** More are only counted, so that a snapshot stays small. */
const LISTED_IN_FLIGHT = 100

/** Who has which part of what Earn owes; the layer above knows it. Without it, each pool is one leaf. */
export interface EarnHolders {
  readonly earnHolders?: (tx: Tx, network: Network) => Promise<Parts>
}

export interface Comparison {
  readonly cold: Snapshot['cold']
  readonly final: Usdc
  readonly latest: Usdc
  readonly balances: LedgerBalances
  readonly missing: bigint
  /** What each provider shows, when money is missing according to some of them only. */
  readonly disagreement: string | undefined
  readonly liabilities: readonly Liability[] | undefined
  readonly inFlight: InFlightList
}

/**
 * Reads the ledger, then the chain, then the ledger again; `certainlyMissing` explains why. Its result is valid for a
 * chain balance of any moment between the two ledger readings, so of several chain readings the highest one is used.
 */
export async function compareWithChain(
  { db, clock, earnHolders }: Needs<'db' | 'clock'> & EarnHolders,
  chain: Chain,
  withProof: boolean,
): Promise<Comparison> {
  const { network, cold: address } = chain
  const since = earlier(clock.now(), SETTLED_MS)
  const { finalHeight, ...before } = await readAtOnce(db, async (tx) => ({
    ...(await balancesBefore(tx, chain, since)),
    finalHeight: await findFinalHeight(tx, network),
  }))
  let best: TotalBalance | undefined
  for (let reading = 1; ; reading++) {
    const onChain = await readBalances(chain, finalHeight)
    const { balances, ...lists } = await readAtOnce(db, async (tx) => ({
      balances: await balancesAfter(tx, network, since),
      liabilities: withProof
        ? await findLiabilities(tx, network, await earnHolders?.(tx, network))
        : undefined,
      inFlight: await findInFlight(tx, network, LISTED_IN_FLIGHT),
    }))
    best = best === undefined || held(onChain) > held(best) ? onChain : best
    const { final, latest } = best
    const missing = certainlyMissing(before, balances, held(best))
    const isDisputed = missing > 0n && certainlyMissing(before, balances, mostHeld(best)) <= 0n
    const disagreement = isDisputed ? describeBalances(best) : undefined
    const coldBalance = address === undefined ? null : { address, held: best.cold }
    const found = { final, latest, cold: coldBalance, balances, ...lists, missing, disagreement }
    if (missing <= 0n || reading === READINGS) return found
    await pause(PAUSE_MS)
  }
}

interface TotalBalance extends AgreedBalance {
  /** The part of it at the cold address in the newest block. */
  readonly cold: Usdc
}

/** The cold address is read before and after the treasury, so that what moves to it meanwhile is seen in one of them. */
async function readBalances(chain: Chain, finalHeight: bigint | undefined): Promise<TotalBalance> {
  const { treasury, cold } = chain
  if (cold === undefined) return { ...(await chain.balanceOf(treasury, finalHeight)), cold: ZERO }
  const before = await chain.balanceOf(cold, finalHeight)
  const onChain = await chain.balanceOf(treasury, finalHeight)
  return withCold(onChain, [before, await chain.balanceOf(cold, finalHeight)])
}

/** Block by block: what comes back from the cold address is in the newest block of both at once. */
function withCold(treasury: AgreedBalance, readings: readonly AgreedBalance[]): TotalBalance {
  const largest = (amounts: readonly Usdc[]) => amounts.reduce((most, one) => (one > most ? one : most), ZERO)
  const agreed = (block: 'final' | 'latest') => largest(readings.map((one) => one[block]))
  const most = (block: 'final' | 'latest') =>
    largest(readings.flatMap(({ byProvider }) => byProvider.map((one) => one[block])))
  return {
    cold: agreed('latest'),
    final: usdc(treasury.final + agreed('final')),
    latest: usdc(treasury.latest + agreed('latest')),
    byProvider: treasury.byProvider.map((one) => ({
      ...one,
      final: usdc(one.final + most('final')),
      latest: usdc(one.latest + most('latest')),
    })),
  }
}

/** Final payments are in both blocks. A theft is in the newest one first, where new payments can hide it for a while. */
const held = ({ final, latest }: { readonly final: Usdc; readonly latest: Usdc }): bigint =>
  final < latest ? final : latest

const mostHeld = (agreed: AgreedBalance): bigint =>
  agreed.byProvider.map(held).reduce((most, one) => (one > most ? one : most), held(agreed))

const LONGEST_DETAIL = 200

const describeBalances = ({ byProvider }: AgreedBalance): string =>
  byProvider
    .map(({ provider, final, latest }) => `${provider} ${formatUsd(latest)} (final ${formatUsd(final)})`)
    .join(', ')
    .slice(0, LONGEST_DETAIL)

const balancesBefore = async (tx: Tx, { network, cold }: Chain, since: Date): Promise<BalancesBefore> => ({
  ledger: (await ledgerView(tx, network)) - (cold === undefined ? 0n : await sumReturned(tx, network, cold)),
  unfinal: await sumUnfinal(tx, network),
  settled: await sumSettled(tx, network, since),
})

/** What moves to the cold address counts there already, and is owed to nobody. */
async function ledgerView(tx: Tx, network: Network): Promise<bigint> {
  const { treasuryView, coldView } = await totals(tx, network)
  return treasuryView + coldView - (await sumMovingToCold(tx, network))
}

async function balancesAfter(tx: Tx, network: Network, since: Date): Promise<BalancesAfter> {
  const { venuesView, liabilities, suspense, fees } = await totals(tx, network)
  const [toCold, toVenues] = [await sumMovingToCold(tx, network), await sumMovingToVenues(tx, network)]
  return {
    ledger: await ledgerView(tx, network),
    // Until it has left, it is in the treasury.
    venues: usdc(venuesView - toVenues),
    inFlight: await inFlight(tx, network),
    unfinal: await sumUnfinal(tx, network),
    settled: await sumSettled(tx, network, since),
    escrow: usdc(liabilities.escrow),
    payable: usdc(liabilities.payable - toCold - toVenues),
    surplus: usdc(liabilities.surplus),
    suspense: usdc(suspense),
    earn: usdc(liabilities.pool + liabilities.withdrawal),
    fees: usdc(fees),
  }
}
