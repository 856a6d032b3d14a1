import type { Needs } from '@market/core/context'
import { findWalletsAfter } from '@market/core/custody'
import { type Db, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { dayOf } from '../snapshot.ts'
import { findReading, savePage, startReading, type WalletReading } from './store.ts'

/** Ten requests to a node. */
const PAGE = 1_000
/** Limits one run. The next one continues after the last page that was saved. */
const PAGES = 10

/** Server wallets exist only on Solana. */
const CHAIN = 'solana'

/**
 * Reads once a UTC day what the server wallets hold, for the day's snapshot. Only the chain knows which of them received USDC:
 * registration returns their addresses, so anybody can send to them. So none is left out, and those without USDC get no row.
 */
export async function readAgentWallets(
  { db, clock, chains }: Needs<'db' | 'clock' | 'chains'>,
  network: Network,
): Promise<void> {
  const finalBalancesOf = chains[network]?.finalBalancesOf
  if (finalBalancesOf === undefined) return
  const day = dayOf(clock.now())
  for (let page = 0; page < PAGES; page++) {
    const reading = await currentReading(db, network, day)
    if (reading.isComplete) return
    const wallets = await findWalletsAfter(db, CHAIN, reading.after, PAGE)
    const balances = await finalBalancesOf(wallets.map(({ address }) => address))
    assert(balances.length === wallets.length, 'every wallet of the page was read')
    const held = wallets.map((wallet, n) => ({ ...wallet, micros: balances[n] ?? 0n }))
    const read = { ...reading, held, isLast: wallets.length < PAGE }
    // False when another worker saved this page or a new day began: that worker continues.
    if (!(await transact(db, (tx) => savePage(tx, read)))) return
  }
}

/** The reading of this day, which starts with the first wallet. */
async function currentReading(db: Db, network: Network, day: string): Promise<WalletReading> {
  const known = await findReading(db, network)
  return known?.day === day ? known : transact(db, (tx) => startReading(tx, network, day))
}
