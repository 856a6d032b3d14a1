import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { postNew } from '../ledger/index.ts'
import { recordAgain, replaceUnclaimed } from './record-again.ts'
import { findPosition, insertTransfer, lockTransfer, movePosition, saveTransfer } from './store.ts'
import { arrivalJournal, type Transfer, transferOf } from './transfer.ts'

/** The limit of one run, so that a long backlog does not delay other work. */
const MAX_PAGES = 50
const PAGE_SIZE = 100

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/**
 * Records every transfer into the treasury. Unclaimed money is posted to suspense, where it can be claimed or refunded
 * later. Returns how many new transfers it found.
 */
export async function watchTreasury(ctx: Ctx, network: Network, pageSize = PAGE_SIZE): Promise<number> {
  const chain = ctx.chains[network]
  if (chain === undefined) return 0
  let found = 0
  let from = await findPosition(ctx.db, network)
  for (let page = 0; page < MAX_PAGES; page++) {
    const { transfers, position } = await chain.transfersAfter(from, pageSize)
    // A page can be empty and still move the position; at the end the position stays.
    if (position === from) break
    // One transaction per transfer: a longer one would lock the ledger accounts that concurrent claims need.
    for (const seen of transfers)
      if (await transact(ctx.db, (tx) => recordTransfer(ctx, tx, network, seen))) found++
    // Moved after recording: a run that stops before this reads the page again and finds all of it recorded.
    if (!(await movePosition(ctx.db, network, from, position, ctx.clock.now()))) break
    from = position
  }
  return found
}

/** Returns true when the transfer was not recorded before. */
async function recordTransfer(ctx: Ctx, tx: Tx, network: Network, seen: IncomingTransfer): Promise<boolean> {
  const now = ctx.clock.now()
  const transfer = transferOf(network, seen, now)
  if (await insertTransfer(tx, transfer, now)) {
    await postNew(ctx, tx, arrivalJournal(transfer))
    return true
  }
  const known = await lockTransfer(tx, transfer)
  assert(known !== undefined, 'a transfer whose key exists can be locked')
  if (known.state !== 'gone') {
    await updateKnown(ctx, tx, known, seen)
    return false
  }
  await recordAgain(ctx, tx, known, seen)
  return true
}

/** The transfer was claimed before the watcher read it, or was included again after a reorganisation. */
async function updateKnown(ctx: Ctx, tx: Tx, known: Transfer, seen: IncomingTransfer): Promise<void> {
  // Enough providers agreed on a final transfer. One node cannot change it.
  if (known.state === 'final' && !seen.final) return
  if (known.amount !== seen.amount) {
    // Only recheckTransfers, which asks more than one provider, reverses a payment.
    if (known.purpose === null) await replaceUnclaimed(ctx, tx, known, seen)
    return
  }
  const state = seen.final ? 'final' : known.state
  const { block, at: happenedAt } = seen
  if (known.block.hash === block.hash && known.state === state) return
  await saveTransfer(tx, { ...known, block, happenedAt, state, missingSince: null }, ctx.clock.now())
}
