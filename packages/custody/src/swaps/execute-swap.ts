import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import type { SwapChecker, Swaps, SwapVenue } from '@market/core/ports/swaps'
import { rejectWhileStopped } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { SwapId } from '@market/kernel/ids'
import { badSignedTransaction, otherSignature, swapExpired, swapNotFound } from './errors.ts'
import { findSwap, lockSwap, saveOutcome, saveSubmitted } from './store.ts'
import type { Swap } from './swap.ts'

interface SignedSwap {
  readonly id: SwapId
  /** In base64. */
  readonly signedTransaction: string
}

type ExecuteContext = Needs<'db' | 'transact' | 'clock'>

/** A transaction is confirmed within a few seconds, or the client asks again. */
const OBSERVATIONS = 10
const OBSERVE_EVERY_MS = 500

/**
 * Submits a signed swap to its venue, once. It is recorded before the venue is called, with no transaction open meanwhile.
 * Only the chain decides what became of it: a venue that claims success, or fails, may be wrong. A repeated call returns
 * the stored outcome, or reads the chain again.
 */
export async function executeSwap(
  ctx: ExecuteContext,
  { venue, checker }: Swaps,
  userId: string,
  signed: SignedSwap,
): Promise<Swap> {
  const ordered = await findSwap(ctx.db, signed.id)
  if (ordered?.userId !== userId) throw swapNotFound()
  const checked = await checker.checkSigned(signed.signedTransaction)
  if ('flaw' in checked) throw badSignedTransaction(checked.flaw)
  if (checked.messageHash !== ordered.messageHash) throw badSignedTransaction('changed')

  const { swap, isFirst } = await transact(ctx.db, (tx) => submitOnce(ctx, tx, ordered.id, checked.signature))
  const claimed = isFirst ? await submitTo(venue, ordered, signed.signedTransaction) : 'unknown'
  const outcome = await observe(checker, swap, claimed === 'success' ? OBSERVATIONS : 1)
  return ctx.transact((tx) => saveObserved(tx, swap.id, outcome))
}

/** Only the request that changes the row submits the swap. */
async function submitOnce(
  { clock }: Needs<'clock'>,
  tx: Tx,
  id: SwapId,
  signature: string,
): Promise<{ readonly swap: Swap; readonly isFirst: boolean }> {
  await rejectWhileStopped(tx, ['read_only'])
  const swap = await lockSwap(tx, id)
  if (swap === undefined) throw swapNotFound()
  if (swap.status !== 'ordered') {
    // Two signatures of one message exclude each other on the chain, and only the first one is followed.
    if (swap.signature !== signature) throw otherSignature(id)
    return { swap, isFirst: false }
  }
  const executedAt = clock.now()
  if (swap.expiresAt <= executedAt) throw swapExpired(swap.expiresAt)
  await saveSubmitted(tx, id, signature, executedAt)
  return { swap: { ...swap, status: 'pending', signature, executedAt }, isFirst: true }
}

async function submitTo(
  venue: SwapVenue,
  { makerRequest }: Swap,
  signedTransaction: string,
): Promise<'success' | 'failed' | 'unknown'> {
  try {
    return await venue.execute({ requestId: makerRequest, signedTransaction })
  } catch (error) {
    // The venue may have sent it before it failed.
    if (error instanceof ApiError) return 'unknown'
    throw error
  }
}

async function observe(
  checker: SwapChecker,
  { status, signature, lastValidHeight }: Swap,
  times: number,
): Promise<'confirmed' | 'failed' | 'unknown'> {
  if (status !== 'pending') return 'unknown'
  assert(signature !== null, 'a submitted swap has a signature')
  for (let time = 1; ; time++) {
    const outcome = await checker.observe({ signature, lastValidHeight })
    if (outcome !== 'unknown' || time >= times) return outcome
    await pause(OBSERVE_EVERY_MS)
  }
}

async function saveObserved(tx: Tx, id: SwapId, outcome: 'confirmed' | 'failed' | 'unknown'): Promise<Swap> {
  const swap = await lockSwap(tx, id)
  if (swap === undefined) throw swapNotFound()
  if (swap.status !== 'pending' || outcome === 'unknown') return swap
  await saveOutcome(tx, id, outcome)
  return { ...swap, status: outcome }
}
