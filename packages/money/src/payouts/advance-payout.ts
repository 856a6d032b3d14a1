import {
  NONCE_USED_BY_ANOTHER,
  type PayoutOutcome,
  type PayoutSender,
} from '@market/core/ports/payout-sender'
import { MINUTE, SECOND } from '@market/kernel/clock'
import { admit, hold } from './admit.ts'
import { adoptKnown, NONCE_TAKEN } from './adopt.ts'
import { failPayout, settlePayout } from './end-payout.ts'
import { giveUpNonce } from './give-up-nonce.ts'
import { feeReason, NOT_COVERED, NOT_FINAL } from './hold-reason.ts'
import { noteUnsent } from './note-unsent.ts'
import { UNREAD } from './number-payout.ts'
import { isCompared, NOT_COMPARED, NOT_COUNTED } from './outgoing/guard.ts'
import { findGate } from './outgoing/store.ts'
import { hasEnded, isWaiting, orderOf, type Payout, type PayoutId, type StoredSignature } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { sendAnyway, signOnce } from './sign-once.ts'
import { findSignatures } from './signatures/store.ts'
import { findPayout } from './store.ts'

/** When to come back, in milliseconds; undefined when the payout has ended. */
export type Again = number | undefined

const SOON_MS = 1 * SECOND
const HELD_MS = 30 * SECOND
/** For what passes by itself in a moment, such as the comparison after a restart of the database. */
const HELD_BRIEFLY_MS = 2 * SECOND
const BRIEF_REASONS = [NOT_COMPARED, NOT_COUNTED, NOT_FINAL, NOT_COVERED, NONCE_TAKEN, UNREAD]
const isBrief = ({ reason }: Payout): boolean =>
  BRIEF_REASONS.some((known) => reason?.startsWith(known) === true)
/** Finality can take a quarter of an hour: the longer it took, the longer the pauses, up to this. */
const PATIENT_MS = 15 * SECOND
const PATIENCE = 20

/** On EVM a signature that nobody mines for this long is replaced by one that pays more, at the same nonce. */
const STUCK_MS = 1 * MINUTE

/** Brings a payout one step on. Safe to be called by anybody, at any time, as often as they like. */
export async function advancePayout(ctx: PayoutContext, id: PayoutId): Promise<Again> {
  const payout = await findPayout(ctx.db, id)
  if (payout === undefined || hasEnded(payout)) return undefined
  const sender = ctx.payoutSenders[payout.network]
  if (sender === undefined) return HELD_MS
  const signed = await findSignatures(ctx.db, payout)
  return signed.length === 0 ? begin(ctx, sender, payout) : follow(ctx, sender, payout, signed)
}

async function begin(ctx: PayoutContext, sender: PayoutSender, payout: Payout): Promise<Again> {
  const known = await adoptKnown(ctx, payout)
  const ready = known ?? (isWaiting(payout) ? await letThrough(ctx, sender, payout) : payout)
  if (hasEnded(ready)) return undefined
  if (isWaiting(ready)) return isBrief(ready) ? HELD_BRIEFLY_MS : HELD_MS
  if (ready.state === 'numbered') await signOnce(ctx, sender, ready, [])
  return SOON_MS
}

/** All that can be asked is asked before there is a number. */
async function letThrough(ctx: PayoutContext, sender: PayoutSender, payout: Payout): Promise<Payout> {
  if (!isCompared(await findGate(ctx.db, payout.network))) return hold(ctx, payout, NOT_COMPARED)
  const apiError = await sender.rejectionReason(orderOf(payout))
  if (apiError !== undefined) return failPayout(ctx, payout, apiError)
  const dear = await feeReason(ctx, sender, payout)
  return dear === undefined ? admit(ctx, sender, payout) : hold(ctx, payout, dear)
}

async function follow(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<Again> {
  const outcome = await sender.observe(signed)
  switch (outcome.kind) {
    case 'final':
      await settlePayout(ctx, payout, outcome.reference)
      return undefined
    case 'seen':
      await noteUnsent(ctx, payout, undefined)
      return Math.min(PATIENT_MS, Math.max(SOON_MS, ageOf(ctx, signed) / PATIENCE))
    case 'failed':
    case 'expired':
    case 'unknown':
      // A restored database may know an older signature than the one that was paid.
      if ((await adoptKnown(ctx, payout)) !== undefined) return SOON_MS
      return goOn(ctx, sender, payout, signed, outcome)
  }
}

async function goOn(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
  outcome: Extract<PayoutOutcome, { kind: 'failed' | 'expired' | 'unknown' }>,
): Promise<Again> {
  switch (outcome.kind) {
    case 'failed':
      if (outcome.reason === NONCE_USED_BY_ANOTHER) {
        await giveUpNonce(ctx, payout, signed)
        return HELD_BRIEFLY_MS
      }
      return hasEnded(await failPayout(ctx, payout, outcome.reason, signed)) ? undefined : SOON_MS
    case 'expired':
      await signOnce(ctx, sender, payout, signed)
      return SOON_MS
    case 'unknown':
      await sendAgain(ctx, sender, payout, signed)
      return SOON_MS
  }
}

/** The same bytes again; and others in their place when it is these, and none before them, that nobody mines. */
async function sendAgain(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<void> {
  const newest = signed.at(-1)
  if (newest !== undefined) await noteUnsent(ctx, payout, await sendAnyway(sender, newest))
  if (payout.nonce === null || ageOf(ctx, signed) <= STUCK_MS) return
  if ((await sender.nonces())?.next === payout.nonce) await signOnce(ctx, sender, payout, signed)
}

const ageOf = ({ clock }: PayoutContext, signed: readonly StoredSignature[]): number =>
  clock.now().getTime() - (signed.at(-1)?.createdAt ?? clock.now()).getTime()
