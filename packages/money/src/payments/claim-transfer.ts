import type { Needs } from '@market/core/context'
import type { SeenTransfer } from '@market/core/ports/chain'
import { brokenConstraint, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { countWhole, inSuspense, postNew } from './move-money.ts'
import { findByPurpose, insertTransfer, lockTransfer, saveTransfer } from './store.ts'
import { arrival, matching, type Transfer, transferOf } from './transfer.ts'

/**
 * Lets a transfer serve a purpose, once. Called inside the transaction that acts on the payment, with what a look at
 * the chain has just shown; whoever comes second is rejected, unless it is the same purpose asking again.
 */
export async function claimTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  claim: { network: Network; seen: SeenTransfer; purpose: string; due: Usdc },
): Promise<{ isNew: boolean }> {
  const { network, seen, purpose, due } = claim
  assert(purpose !== '', 'a claim has a purpose')
  assert(seen.amount >= due, `${seen.reference} is less than what is due`)
  const now = ctx.clock.now()
  const transfer = transferOf(network, seen, now, { purpose, due })
  try {
    if (await insertTransfer(tx, transfer, now)) {
      await postNew(ctx, tx, arrival(transfer))
      return { isNew: true }
    }
    return await takeOver(ctx, tx, transfer)
  } catch (error) {
    // Two that came at the same moment; whoever comes later was rejected before anything was written.
    if (brokenConstraint(error) === 'transfers_purpose') throw paidAlready()
    throw error
  }
}

/** The transfer is known: perhaps the watcher saw it first, perhaps the chain undid it and it came again. */
async function takeOver(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: Transfer,
): Promise<{ isNew: boolean }> {
  const now = ctx.clock.now()
  const known = await lockTransfer(tx, transfer.network, transfer.reference)
  if (known === undefined) throw paidAlready()
  if (known.state === 'gone') {
    await rejectPaid(tx, transfer)
    await saveTransfer(tx, transfer, now)
    await postNew(ctx, tx, arrival(transfer))
    return { isNew: true }
  }
  if (known.purpose === transfer.purpose) return { isNew: false }
  if (known.purpose !== '') throw usedAlready()
  await rejectPaid(tx, transfer)
  // An operator may have sent it back, or kept it, while nobody claimed it. Asked before anything is written, too.
  if ((await inSuspense(tx, known)) < known.amount) throw usedAlready()
  const state = known.state === 'final' ? 'final' : transfer.state
  const claimed: Transfer = { ...transfer, state, arrivedAt: known.arrivedAt }
  await saveTransfer(tx, claimed, now)
  if (known.amount < claimed.amount) await countWhole(ctx, tx, known, claimed.amount)
  await postNew(ctx, tx, matching(claimed))
  return { isNew: true }
}

/**
 * Asked before anything is written: a write that breaks the unique key would end the transaction, and whoever is rejected
 * may go on with it.
 */
async function rejectPaid(tx: Tx, { purpose }: Transfer): Promise<void> {
  if ((await findByPurpose(tx, purpose)) !== undefined) throw paidAlready()
}

const usedAlready = (): ApiError =>
  new ApiError(
    'conflict',
    'This transfer was already used for something else. Each transfer pays for one thing.',
    {
      code: 'transfer_used',
    },
  )

const paidAlready = (): ApiError =>
  new ApiError('conflict', 'This was already paid by another transfer', { code: 'already_paid' })
