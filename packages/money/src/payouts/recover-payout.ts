import type { Needs } from '@market/core/context'
import type { SignedTransfer } from '@market/core/ports/payout-sender'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { recordSpending } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import { countsAgainstCaps } from './limits/caps.ts'
import { isNonceTaken } from './nonces/store.ts'
import { isCompared, isReadSince } from './outgoing/guard.ts'
import { compareWithPayout, type OutgoingTransfer } from './outgoing/outgoing-transfer.ts'
import { findTransferMatches } from './outgoing/store.ts'
import { hasEnded, isWaiting, type Payout, type StoredSignature } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { lockPayout, saveHold, savePayout, startRound } from './store.ts'

/**
 * Records a transaction of this payout that the chain shows and the database has lost. It becomes an ordinary signature
 * that is never broadcast again. Returns undefined when there is none; otherwise the payout as it is now, and this step
 * does nothing else with it. The payout is locked.
 */
export async function recoverPayout(
  ctx: Needs<'clock'>,
  tx: Tx,
  payout: Payout,
): Promise<Payout | undefined> {
  const comparison = compareWithPayout(payout, await findTransferMatches(tx, payout.id))
  switch (comparison.kind) {
    case 'none':
      return undefined
    case 'mismatch':
      assert(isWaiting(payout), `${payout.id}: ${comparison.reference} does not match it`)
      return saveHold(
        tx,
        payout,
        { code: 'transfer_mismatch', detail: comparison.reference },
        ctx.clock.now(),
      )
    case 'lost':
      return recordLost(ctx, tx, payout, comparison.transfer)
  }
}

/** For a payout that is not locked yet. Most have nothing to recover, which takes one short query. */
export async function recoverUnlocked(ctx: PayoutContext, payout: Payout): Promise<Payout | undefined> {
  if (compareWithPayout(payout, await findTransferMatches(ctx.db, payout.id)).kind === 'none')
    return undefined
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    return hasEnded(locked) ? locked : recoverPayout(ctx, tx, locked)
  })
}

async function recordLost(
  ctx: Needs<'clock'>,
  tx: Tx,
  payout: Payout,
  transfer: OutgoingTransfer,
): Promise<Payout> {
  const { nonce } = transfer
  const now = ctx.clock.now()
  if (nonce !== null && (await isNonceTaken(tx, payout, nonce)))
    return isWaiting(payout) ? saveHold(tx, payout, { code: 'nonce_reserved' }, now) : payout
  const guard = await findGuard(tx, payout.network)
  assert(guard !== undefined, 'outgoing transfers were read')
  // A round has one nonce, so a transaction with another nonce belongs to a later round.
  const round = payout.nonce === null || payout.nonce === nonce ? payout.round : payout.round + 1
  const before = await findSignatures(tx, { ...payout, round })
  await saveDead(tx, payout.network, await findSignatures(tx, payout))
  const isNew = await insertSignature(
    tx,
    { ...payout, round },
    before.length + 1,
    signatureOf(transfer, guard.horizon),
    now,
  )
  assert(isNew, `${transfer.reference} is a signature of another payout`)
  await recordSpending(tx, payout)
  // fix: recovered-counts-by-rule
  const counts = payout.countedAt === null ? await countsAgainstCaps(tx, payout) : payout.countsAgainstCaps
  const change = { round, countsAgainstCaps: counts, ...(nonce !== null && { nonce }) }
  return savePayout(tx, payout, 'recover', change, now)
}

/** Without bytes: the database does not have them, and the chain does not need them again. */
const signatureOf = ({ reference, nonce }: OutgoingTransfer, horizon: bigint): SignedTransfer => ({
  reference,
  bytes: '',
  nonce,
  lastValidHeight: nonce === null ? horizon : null,
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
})

/**
 * A final block shows that another transaction used the payout's nonce, so no signature of this round can take effect
 * and the payout starts another round. That transaction could be one of its own signatures that the database has lost;
 * therefore all outgoing transfers up to now are read first.
 */
export async function releaseNonce(
  ctx: PayoutContext,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<void> {
  const { id, network } = payout
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.round !== payout.round) return
    if ((await findSignatures(tx, locked)).length !== signed.length) return
    const guard = await findGuard(tx, network)
    if (!isCompared(guard)) return
    if (locked.holdCode !== 'nonce_used' || locked.heldAtReading === null) {
      const change = { hold: { code: 'nonce_used' }, heldAtReading: guard.readingsBegun } as const
      await savePayout(tx, locked, 'suspect_nonce', change, ctx.clock.now())
      return
    }
    if (!isReadSince(guard, locked)) return
    if ((await recoverPayout(ctx, tx, locked)) !== undefined) return
    // One of its own signatures is in a block that was reorganized away, but that is not final yet.
    if ((await findTransferMatches(tx, id)).some(({ signedInRound }) => signedInRound === locked.round))
      return
    await startRound(tx, locked, 'release_nonce', ctx.clock.now())
  })
}
