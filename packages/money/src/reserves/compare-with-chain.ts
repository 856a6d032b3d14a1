import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { readAtOnce, type Tx } from '@market/database/transact'
import { earlier, MINUTE, SECOND } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { totals } from '../ledger/index.ts'
import { inFlight } from '../payouts/index.ts'
import { type Books, type BooksAfter, type BooksBefore, certainlyMissing } from './snapshot.ts'
import { findLiabilities, type Liability, sumSettled } from './store.ts'

/** A shortage is believed when the chain says it so often: a node that is a little behind has caught up by then. */
const READINGS = 3
const BETWEEN_MS = 1 * SECOND

/** More than the clocks of two workers ever differ and a settlement ever takes: settlements are counted from there. */
const SETTLED_MS = 5 * MINUTE

export interface Comparison {
  readonly final: Usdc
  readonly latest: Usdc
  readonly books: Books
  readonly missing: bigint
  readonly liabilities: readonly Liability[] | undefined
}

/**
 * Books, then chain, then books: `certainlyMissing` says why. What it says holds for a chain that was asked at any
 * moment between the two readings, so of several answers the one that speaks most for the treasury is as good as any.
 */
export async function compareWithChain(
  { db, clock }: Needs<'db' | 'clock'>,
  chain: Chain,
  withProof: boolean,
): Promise<Comparison> {
  const { network, treasury } = chain
  const since = earlier(clock.now(), SETTLED_MS)
  const before = await readAtOnce(db, (tx) => booksBefore(tx, network, since))
  let found: Comparison | undefined
  for (let reading = 1; ; reading++) {
    const onChain = await chain.balanceOf(treasury)
    const { books, liabilities } = await readAtOnce(db, async (tx) => ({
      books: await booksAfter(tx, network, since),
      liabilities: withProof ? await findLiabilities(tx, network) : undefined,
    }))
    const best = found !== undefined && found.latest > onChain.latest ? found : onChain
    const { final, latest } = best
    found = { final, latest, books, liabilities, missing: certainlyMissing(before, books, latest) }
    if (found.missing <= 0n || reading === READINGS) return found
    await pause(BETWEEN_MS)
  }
}

const booksBefore = async (tx: Tx, network: Network, since: Date): Promise<BooksBefore> => ({
  ledger: (await totals(tx, network)).treasuryView,
  settled: await sumSettled(tx, network, since),
})

async function booksAfter(tx: Tx, network: Network, since: Date): Promise<BooksAfter> {
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
