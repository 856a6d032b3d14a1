import type { Needs } from '@market/core/context'
import type { SignedTransfer } from '@market/core/ports/payout-sender'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { judge, type OutgoingTransfer } from './outgoing/outgoing-transfer.ts'
import { findGate, findTransferMatches } from './outgoing/store.ts'
import { hasEnded, isWaiting, type Payout } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { isNonceTaken, lockPayout, savePayout } from './store.ts'

export const NONCE_TAKEN = 'It was paid with a nonce that another payout has not given up yet'

/**
 * Takes over what the chain shows of this payout and these books have lost: it becomes a signature like any other, is
 * never sent again, and is settled when it is final. Undefined when there is nothing to take over; otherwise the payout
 * as it is now, and nothing else is to be done with it in this step. The payout is locked.
 */
export async function adopt(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<Payout | undefined> {
  const verdict = judge(payout, await findTransferMatches(tx, payout.id))
  switch (verdict.kind) {
    case 'nothing':
      return undefined
    case 'strange':
      assert(isWaiting(payout), `${payout.id}: ${verdict.why}`)
      return savePayout(tx, payout.id, { state: 'held', reason: verdict.why }, ctx.clock.now())
    case 'lost':
      return takeOver(ctx, tx, payout, verdict.sending)
  }
}

/** The same, for a payout nobody has locked; most have nothing to take over, and that is one short question. */
export async function adoptKnown(ctx: PayoutContext, payout: Payout): Promise<Payout | undefined> {
  if (judge(payout, await findTransferMatches(ctx.db, payout.id)).kind === 'nothing') return undefined
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    return hasEnded(locked) ? locked : adopt(ctx, tx, locked)
  })
}

async function takeOver(
  ctx: Needs<'clock'>,
  tx: Tx,
  payout: Payout,
  sending: OutgoingTransfer,
): Promise<Payout> {
  const { nonce } = sending
  const now = ctx.clock.now()
  if (nonce !== null && (await isNonceTaken(tx, payout, nonce)))
    return isWaiting(payout) ? savePayout(tx, payout.id, { state: 'held', reason: NONCE_TAKEN }, now) : payout
  const gate = await findGate(tx, payout.network)
  assert(gate !== undefined, 'what left was read')
  // One nonce per round: paid with another one, it was a later round that paid it.
  const round = payout.nonce === null || payout.nonce === nonce ? payout.round : payout.round + 1
  const before = await findSignatures(tx, { ...payout, round })
  await saveDead(tx, payout.network, await findSignatures(tx, payout))
  const isNew = await insertSignature(
    tx,
    { ...payout, round },
    before.length + 1,
    signatureOf(sending, gate.horizon),
    now,
  )
  assert(isNew, `${sending.reference} is a signature of another payout`)
  return savePayout(tx, payout.id, { state: 'signed', round, ...(nonce !== null && { nonce }) }, now)
}

/** No bytes: we do not have them, and the chain does. */
const signatureOf = ({ reference, nonce }: OutgoingTransfer, horizon: bigint): SignedTransfer => ({
  reference,
  bytes: '',
  nonce,
  lastValidHeight: nonce === null ? horizon : null,
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
})
