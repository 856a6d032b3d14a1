import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { postAllNew } from '../ledger/index.ts'
import { wakeIntents } from './intents/store.ts'
import { recordAgain, replaceUnclaimed } from './record-again.ts'
import { finalizeSeen, insertTransfers, lockTransfer, saveTransfer } from './store.ts'
import { arrivalJournal, type Transfer, transferName, transferOf } from './transfer.ts'

type Ctx = Needs<'clock' | 'ids'>

/**
 * Records transfers into a treasury as one node shows them, and wakes what waits for them. Unclaimed money is posted to
 * suspense, where it can be claimed or refunded later.
 */
export async function recordTransfers(
  ctx: Ctx,
  tx: Tx,
  network: Network,
  transfers: readonly IncomingTransfer[],
): Promise<void> {
  await recordAll(ctx, tx, network, transfers)
  await wakeIntents(tx, network, transfers)
}

/** A longer transaction would lock the ledger accounts that concurrent claims need. */
const AT_ONCE = 100

/**
 * Records transfers as final: enough providers agree that exactly these are in their blocks. One that was claimed with another
 * amount, or that a caller named with another payer, stays as it is; `recheckTransfers` decides about it. This commits before the
 * final block moves, and is true whoever records it and however often: the same range is read again after a crash.
 */
export async function recordFinal(
  ctx: Ctx & Needs<'db'>,
  network: Network,
  transfers: readonly IncomingTransfer[],
): Promise<void> {
  const done = await finalizeSeen(ctx.db, network, transfers)
  const others = transfers.filter((seen) => !done.has(transferName(seen)))
  for (let from = 0; from < others.length; from += AT_ONCE)
    await transact(ctx.db, (tx) => recordAll(ctx, tx, network, others.slice(from, from + AT_ONCE)))
}

/** All transfers are locked before the ledger's accounts, in which order claims lock them too. */
async function recordAll(
  ctx: Ctx,
  tx: Tx,
  network: Network,
  all: readonly IncomingTransfer[],
): Promise<void> {
  const now = ctx.clock.now()
  const transfers = all.map((seen) => transferOf(network, seen, now))
  const added = await insertTransfers(tx, transfers, now)
  const isAdded = (one: Pick<Transfer, 'reference' | 'index'>): boolean => added.has(transferName(one))
  for (const seen of all) {
    if (isAdded(seen)) continue
    const known = await lockTransfer(tx, { network, ...seen })
    assert(known !== undefined, 'a transfer whose key exists can be locked')
    if (known.state === 'gone') await recordAgain(ctx, tx, known, seen)
    else await updateKnown(ctx, tx, known, seen)
  }
  await postAllNew(ctx, tx, transfers.filter(isAdded).map(arrivalJournal))
}

/** The transfer was claimed before it was read, or was included again after a reorganisation. */
async function updateKnown(ctx: Ctx, tx: Tx, known: Transfer, seen: IncomingTransfer): Promise<void> {
  // Enough providers agreed on a final transfer. One node cannot change it.
  if (known.state === 'final') return
  if (known.amount !== seen.amount) {
    // Only recheckTransfers reverses a payment.
    if (known.purpose === null) await replaceUnclaimed(ctx, tx, known, seen)
    return
  }
  const { block, at: happenedAt } = seen
  // fix: named-payer-is-verified
  const state = seen.final && known.payer === seen.payer ? 'final' : known.state
  if (known.block.hash === block.hash && known.state === state && known.missingSince === null) return
  await saveTransfer(tx, { ...known, block, happenedAt, state, missingSince: null }, ctx.clock.now())
}
