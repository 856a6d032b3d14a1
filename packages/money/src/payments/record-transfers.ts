import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { postNew } from '../ledger/index.ts'
import { wakeIntents } from './intents/store.ts'
import { recordAgain, replaceUnclaimed } from './record-again.ts'
import { finalizeSeen, findStanding, insertTransfer, lockTransfer, saveTransfer } from './store.ts'
import { arrivalJournal, type Transfer, transferName, transferOf } from './transfer.ts'

type Ctx = Needs<'db' | 'clock' | 'ids'>

/**
 * Records transfers into a treasury as one node shows them. Unclaimed money is posted to suspense, where it can be claimed
 * or refunded later.
 */
export async function recordTransfers(
  ctx: Ctx,
  network: Network,
  transfers: readonly IncomingTransfer[],
): Promise<void> {
  const known = await findStanding(ctx.db, network, transfers)
  const unknown = transfers.filter((seen) => known.get(transferName(seen)) !== seen.block.hash)
  await recordEach(ctx, network, unknown)
  await wakeIntents(ctx.db, network, unknown)
}

/**
 * Records transfers as final: enough providers agree that exactly these are in their blocks. One that was claimed with another
 * amount, or that a caller named with another payer, stays as it is; `recheckTransfers` decides about it.
 */
export async function recordFinal(
  ctx: Ctx,
  network: Network,
  transfers: readonly IncomingTransfer[],
): Promise<void> {
  const done = await finalizeSeen(ctx.db, network, transfers)
  const others = transfers.filter((seen) => !done.has(transferName(seen)))
  await recordEach(ctx, network, others)
}

/** One transaction per transfer: a longer one would lock the ledger accounts that concurrent claims need. */
async function recordEach(ctx: Ctx, network: Network, transfers: readonly IncomingTransfer[]): Promise<void> {
  for (const seen of transfers) await transact(ctx.db, (tx) => recordTransfer(ctx, tx, network, seen))
}

async function recordTransfer(ctx: Ctx, tx: Tx, network: Network, seen: IncomingTransfer): Promise<void> {
  const now = ctx.clock.now()
  const transfer = transferOf(network, seen, now)
  if (await insertTransfer(tx, transfer, now)) {
    await postNew(ctx, tx, arrivalJournal(transfer))
    return
  }
  const known = await lockTransfer(tx, transfer)
  assert(known !== undefined, 'a transfer whose key exists can be locked')
  if (known.state === 'gone') await recordAgain(ctx, tx, known, seen)
  else await updateKnown(ctx, tx, known, seen)
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
