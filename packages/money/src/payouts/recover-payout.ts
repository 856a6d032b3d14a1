import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { paysMarkOnce } from '@market/kernel/payout-mark'
import { recordSpending } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import { countsAgainstCaps } from './limits/caps.ts'
import { compareWithPayout, type OutgoingTransfer, type TransferMatch } from './outgoing/outgoing-transfer.ts'
import { findTransferMatches } from './outgoing/store.ts'
import { hasEnded, type Payout } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { isHeldBy, lockPayout, renewMark, savePayout } from './store.ts'

type Ctx = Pick<PayoutContext, 'clock' | 'payoutKinds'>

/**
 * Records a transaction of this payout that the chain shows and the database has lost. It becomes an ordinary signature
 * that is never broadcast again. Returns undefined when there is none; otherwise the payout as it is now, and this step
 * does nothing else with it. The payout is locked.
 */
export async function recoverPayout(ctx: Ctx, tx: Tx, payout: Payout): Promise<Payout | undefined> {
  const comparison = compareWithPayout(payout, await findTransferMatches(tx, payout))
  switch (comparison.kind) {
    case 'none':
      return undefined
    case 'mismatch':
      return holdMismatch(ctx, tx, payout, comparison.reference)
    case 'burned':
      return renewMark(tx, payout, ctx.clock.now())
    case 'lost':
      return recordLost(ctx, tx, payout, comparison.transfer)
  }
}

/** On EVM one that is signed can be paid otherwise by an authorization that the database has lost. */
async function holdMismatch(ctx: Ctx, tx: Tx, payout: Payout, detail: string): Promise<Payout> {
  const hold = { code: 'transfer_mismatch', detail } as const
  const action = payout.state === 'signed' ? 'suspend' : 'hold'
  return isHeldBy(payout, hold) ? payout : savePayout(tx, payout, action, { hold }, ctx.clock.now())
}

/** For a payout that is not locked yet, with what was read of it. Most have nothing to recover. */
export async function recoverUnlocked(
  ctx: PayoutContext,
  payout: Payout,
  matches: readonly TransferMatch[],
): Promise<Payout | undefined> {
  if (compareWithPayout(payout, matches).kind === 'none') return undefined
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    return hasEnded(locked) ? locked : recoverPayout(ctx, tx, locked)
  })
}

async function recordLost(ctx: Ctx, tx: Tx, payout: Payout, transfer: OutgoingTransfer): Promise<Payout> {
  const now = ctx.clock.now()
  if (!paysMarkOnce(payout.network)) await insertLost(tx, payout, transfer, now)
  await recordSpending(tx, payout)
  // fix: recovered-counts-by-rule
  const counts =
    payout.countedAt === null ? await countsAgainstCaps(ctx, tx, payout) : payout.countsAgainstCaps
  return savePayout(tx, payout, 'recover', { countsAgainstCaps: counts }, now)
}

/** Without bytes: the database does not have them, and the chain does not need them again. */
async function insertLost(
  tx: Tx,
  payout: Payout,
  { reference, index }: OutgoingTransfer,
  at: Date,
): Promise<void> {
  const guard = await findGuard(tx, payout.network)
  assert(guard !== undefined, 'outgoing transfers were read')
  const n = (await findSignatures(tx, payout)).length + 1
  await saveDead(tx, payout)
  const lost = { reference, index, bytes: '', validTo: guard.horizon }
  const isNew = await insertSignature(tx, payout, n, lost, at)
  assert(isNew, `${reference} is a signature of another payout`)
}
