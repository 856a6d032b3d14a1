import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { brokenConstraint, type Tx } from '@market/database/transact'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { earlier } from '@market/kernel/clock'
import { type Usdc, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, postNew, surplus, suspense } from '../ledger/index.ts'
import type { Purpose } from './purpose.ts'
import { findTransferFor, insertTransfer, lockTransfer, saveTransfer } from './store.ts'
import {
  arrivalJournal,
  CHECK_EVERY_MS,
  isSamePurpose,
  matchJournal,
  reversalJournal,
  type Transfer,
  transferName,
  transferOf,
} from './transfer.ts'

/** A worker checks it at its next sweep. */
const dueNow = (now: Date): Date => earlier(now, 2 * CHECK_EVERY_MS)

interface Claim {
  readonly network: Network
  /** As the chain showed it just before this transaction. */
  readonly seen: IncomingTransfer
  readonly purpose: Purpose
  readonly due: Usdc
}

/**
 * Uses a transfer to pay for a purpose, in the caller's transaction. A transfer pays for one purpose and a purpose is
 * paid by one transfer; `isNew` is false when the same claim was made before.
 */
export async function claimTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, seen, purpose, due }: Claim,
): Promise<{ isNew: boolean }> {
  assert(seen.amount >= due, `${seen.reference} is less than what is due`)
  const now = ctx.clock.now()
  // Only a worker makes it final, after it has asked the chain itself.
  const transfer = transferOf(network, { ...seen, final: false }, now, { purpose, due })
  try {
    if (await insertTransfer(tx, transfer, dueNow(now))) {
      await postNew(ctx, tx, arrivalJournal(transfer))
      return { isNew: true }
    }
    return await claimKnown(ctx, tx, transfer, purpose)
  } catch (error) {
    // Only for claims made at the same moment; a later one is rejected before it writes.
    if (brokenConstraint(error) === 'transfers_purpose') throw alreadyPaid()
    if (brokenConstraint(error) === 'transfers_of_venue') throw transferUsed()
    throw error
  }
}

/** The row exists: the treasury watcher recorded the transfer first, or the chain reversed it and included it again. */
async function claimKnown(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: Transfer,
  purpose: Purpose,
): Promise<{ isNew: boolean }> {
  const now = ctx.clock.now()
  const known = await lockTransfer(tx, transfer)
  if (known === undefined) throw alreadyPaid()
  if (known.state === 'gone') {
    await requireUnpaid(tx, purpose)
    await saveTransfer(tx, transfer, dueNow(now))
    await postNew(ctx, tx, arrivalJournal(transfer))
    return { isNew: true }
  }
  if (isSamePurpose(known.purpose, purpose)) return { isNew: false }
  if (known.purpose !== null) throw transferUsed()
  // fix: claimed-block-stands
  if (known.state === 'seen' && isReplaced(known, transfer)) throw replaced()
  await requireUnpaid(tx, purpose)
  // An operator may have refunded the unclaimed transfer or recognized it as revenue.
  if ((await balanceInSuspense(tx, known)) < known.amount) throw transferUsed()
  // What is final was agreed by enough providers: the node that shows it now cannot change it. A payer that it adds is
  // checked before the transfer is final again.
  const facts =
    known.state === 'final' && known.payer !== null ? known : { ...transfer, amount: known.amount }
  assert(facts.amount >= transfer.due, `${transfer.reference} is less than what is due`)
  const claimed: Transfer = { ...facts, purpose, due: transfer.due, arrivedAt: known.arrivedAt }
  await saveTransfer(tx, claimed, dueNow(now))
  await postNew(ctx, tx, matchJournal(claimed))
  return { isNew: true }
}

/** A reorganization came between the reading of one and the other, and nobody can say here which was later. */
const isReplaced = (known: Transfer, seen: Transfer): boolean =>
  known.missingSince !== null || known.block.hash !== seen.block.hash

const balanceInSuspense = async (tx: Tx, transfer: Transfer): Promise<bigint> =>
  balanceOf(tx, suspense(transfer.network, transferName(transfer)))

/** Checked before any write: a violated unique key would abort the transaction, which the caller may still need. */
async function requireUnpaid(tx: Tx, purpose: Purpose): Promise<void> {
  if ((await findTransferFor(tx, purpose)) !== undefined) throw alreadyPaid()
}

/**
 * Detaches a locked transfer from its purpose: the money moves back to suspense and can be claimed again. Returns false
 * when the transfer was reversed, or a part of its money has left escrow and surplus.
 */
export async function unclaimTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  known: Transfer,
): Promise<boolean> {
  const excess = await balanceOf(tx, surplus(known.network, transferName(known)))
  const isWhole = excess === known.amount - known.due && (await balanceInSuspense(tx, known)) === ZERO
  if (known.state === 'gone' || !isWhole) return false
  const now = ctx.clock.now()
  await postNew(ctx, tx, reversalJournal(known))
  const unclaimed: Transfer = { ...known, purpose: null, due: ZERO, arrivedAt: now }
  await saveTransfer(tx, unclaimed, now)
  await postNew(ctx, tx, arrivalJournal(unclaimed))
  return true
}

const transferUsed = (): ApiError =>
  new ApiError(
    'conflict',
    'This transfer was already used for something else. Each transfer pays for one thing.',
    { code: 'transfer_used' },
  )

const replaced = (): ApiError =>
  unavailable(
    'The chain is replacing the block of this transfer. Nothing was used. Send the request again in 10 seconds.',
  )

const alreadyPaid = (): ApiError =>
  new ApiError('conflict', 'This was already paid by another transfer', { code: 'already_paid' })
