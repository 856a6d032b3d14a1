import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import type { AgreedBalance, Chain } from '@market/core/ports/chain'
import { readAtOnce, type Tx } from '@market/database/transact'
import { earlier, MINUTE, SECOND } from '@market/kernel/clock'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { totals } from '../ledger/index.ts'
import { findFinalHeight, sumUnfinal } from '../payments/index.ts'
import { findInFlight, inFlight } from '../payouts/index.ts'
import { findLiabilities, type Liability, sumSettled } from './leaves/store.ts'
import {
  type BalancesAfter,
  type BalancesBefore,
  certainlyMissing,
  type InFlightList,
  type LedgerBalances,
} from './snapshot.ts'

/** A shortage counts after this many readings: a node that was a few blocks behind has caught up by then. */
const READINGS = 3
const PAUSE_MS = 1 * SECOND

/** More than clocks of workers differ plus the time of a settlement: settled payouts are summed from this time on. */
const SETTLED_MS = 5 * MINUTE

/** More are only counted, so that a snapshot stays small. */
const LISTED_IN_FLIGHT = 100

export interface Comparison {
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
  { db, clock }: Needs<'db' | 'clock'>,
  chain: Chain,
  withProof: boolean,
): Promise<Comparison> {
  const { network, treasury } = chain
  const since = earlier(clock.now(), SETTLED_MS)
  const { finalHeight, ...before } = await readAtOnce(db, async (tx) => ({
    ...(await balancesBefore(tx, network, since)),
    finalHeight: await findFinalHeight(tx, network),
  }))
  let best: AgreedBalance | undefined
  for (let reading = 1; ; reading++) {
    const onChain = await chain.balanceOf(treasury, finalHeight)
    const { balances, ...lists } = await readAtOnce(db, async (tx) => ({
      balances: await balancesAfter(tx, network, since),
      liabilities: withProof ? await findLiabilities(tx, network) : undefined,
      inFlight: await findInFlight(tx, network, LISTED_IN_FLIGHT),
    }))
    best = best === undefined || held(onChain) > held(best) ? onChain : best
    const { final, latest } = best
    const missing = certainlyMissing(before, balances, held(best))
    const isDisputed = missing > 0n && certainlyMissing(before, balances, mostHeld(best)) <= 0n
    const disagreement = isDisputed ? describeBalances(best) : undefined
    const found = { final, latest, balances, ...lists, missing, disagreement }
    if (missing <= 0n || reading === READINGS) return found
    await pause(PAUSE_MS)
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

const balancesBefore = async (tx: Tx, network: Network, since: Date): Promise<BalancesBefore> => ({
  ledger: (await totals(tx, network)).treasuryView,
  unfinal: await sumUnfinal(tx, network),
  settled: await sumSettled(tx, network, since),
})

async function balancesAfter(tx: Tx, network: Network, since: Date): Promise<BalancesAfter> {
  const { treasuryView, liabilities, suspense, fees } = await totals(tx, network)
  return {
    ledger: treasuryView,
    inFlight: await inFlight(tx, network),
    unfinal: await sumUnfinal(tx, network),
    settled: await sumSettled(tx, network, since),
    escrow: usdc(liabilities.escrow),
    payable: usdc(liabilities.payable),
    surplus: usdc(liabilities.surplus),
    suspense: usdc(suspense),
    fees: usdc(fees),
  }
}
