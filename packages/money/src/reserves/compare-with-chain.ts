import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { readAtOnce, type Tx } from '@market/database/transact'
import { earlier, MINUTE, SECOND } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { totals } from '../ledger/index.ts'
import { inFlight } from '../payouts/index.ts'
import { type BalancesAfter, type BalancesBefore, certainlyMissing, type LedgerBalances } from './snapshot.ts'
import { findLiabilities, type Liability, sumSettled } from './store.ts'

/** A shortage counts after this many readings: a node that was a few blocks behind has caught up by then. */
const READINGS = 3
const PAUSE_MS = 1 * SECOND

/** More than clocks of workers differ plus the time of a settlement: settled payouts are summed from this time on. */
const SETTLED_MS = 5 * MINUTE

export interface Comparison {
  readonly final: Usdc
  readonly latest: Usdc
  readonly balances: LedgerBalances
  readonly missing: bigint
  readonly liabilities: readonly Liability[] | undefined
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
  const before = await readAtOnce(db, (tx) => balancesBefore(tx, network, since))
  let found: Comparison | undefined
  for (let reading = 1; ; reading++) {
    const onChain = await chain.balanceOf(treasury)
    const { balances, liabilities } = await readAtOnce(db, async (tx) => ({
      balances: await balancesAfter(tx, network, since),
      liabilities: withProof ? await findLiabilities(tx, network) : undefined,
    }))
    const best = found !== undefined && found.latest > onChain.latest ? found : onChain
    const { final, latest } = best
    found = { final, latest, balances, liabilities, missing: certainlyMissing(before, balances, latest) }
    if (found.missing <= 0n || reading === READINGS) return found
    await pause(PAUSE_MS)
  }
}

const balancesBefore = async (tx: Tx, network: Network, since: Date): Promise<BalancesBefore> => ({
  ledger: (await totals(tx, network)).treasuryView,
  settled: await sumSettled(tx, network, since),
})

async function balancesAfter(tx: Tx, network: Network, since: Date): Promise<BalancesAfter> {
  const { treasuryView, liabilities, suspense, fees } = await totals(tx, network)
  return {
    ledger: treasuryView,
    inFlight: await inFlight(tx, network),
    settled: await sumSettled(tx, network, since),
    escrow: usdc(liabilities.escrow),
    payable: usdc(liabilities.payable),
    surplus: usdc(liabilities.surplus),
    suspense: usdc(suspense),
    fees: usdc(fees),
  }
}
