import type { Needs } from '@market/core/context'
import {
  NONCE_USED_BY_ANOTHER,
  type PayoutOutcome,
  type PayoutSender,
} from '@market/core/ports/payout-sender'
import { transact } from '@market/database/transact'
import { later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import type { Candidate } from './authorize-payouts.ts'
import { reserveDue, saveDue } from './due/store.ts'
import { failPayout, finalizePayout } from './end-payout.ts'
import { checkCost, findHold, holdPayout } from './find-hold.ts'
import { findGuard } from './guards/store.ts'
import { type Hold, retryAfterMs } from './hold.ts'
import { screeningHold } from './limits/screening-hold.ts'
import { isCompared } from './outgoing/guard.ts'
import type { OutgoingTransfer } from './outgoing/outgoing-transfer.ts'
import { findTransferMatches } from './outgoing/store.ts'
import {
  hasEnded,
  isWaiting,
  type Payout,
  type PayoutId,
  type StoredSignature,
  senderRequestOf,
} from './payout.ts'
import { type Authorize, payoutAuthorizer } from './payout-authorizer.ts'
import type { PayoutContext } from './payout-context.ts'
import { recoverUnlocked, releaseNonce } from './recover-payout.ts'
import { broadcast, recordBroadcast, signPayout } from './sign-payout.ts'
import { findSignatures } from './signatures/store.ts'
import { findPayout, isHeldBy } from './store.ts'

/** Milliseconds until the next step; undefined when the payout has ended. */
export type NextStepMs = number | undefined

/** Longer than most steps. Two workers may do the same step, so a step of a dead worker is soon done by another. */
const STEP_MS = 5 * SECOND
const AFTER_ERROR_MS = 2 * SECOND
const SOON_MS = 1 * SECOND
/** Until then the newest blocks were read. The chain is asked only about a transaction that is in none of them. */
const READ_WITHIN_MS = 8 * SECOND
/** One that is in a block is woken when that is final. */
const UNTIL_FINAL_MS = 1 * MINUTE
/** The pause grows with the age of the signature, up to this. */
const LONGEST_PAUSE_MS = 15 * SECOND
const PAUSES_PER_AGE = 20

/** On EVM a signature that is not mined for this long is replaced by one with higher fees, at the same nonce. */
const STUCK_MS = 1 * MINUTE

/** The payouts of a network that are due. Each is given to one worker. */
export function duePayouts(ctx: Needs<'db' | 'clock'>, network: Network, limit: number): Promise<PayoutId[]> {
  const now = ctx.clock.now()
  return transact(ctx.db, (tx) => reserveDue(tx, network, { now, next: later(now, STEP_MS) }, limit))
}

/** Does one step and stores when the next one is due, so that any worker can do it. */
export async function advanceDue(
  ctx: PayoutContext,
  id: PayoutId,
  authorize?: Authorize,
): Promise<NextStepMs> {
  const saveNext = (ms: number) =>
    transact(ctx.db, (tx) => saveDue(tx, id, later(ctx.clock.now(), Math.round(ms))))
  try {
    const next = await advancePayout(ctx, id, authorize)
    if (next !== undefined) await saveNext(next)
    return next
  } catch (error) {
    await saveNext(AFTER_ERROR_MS)
    throw error
  }
}

/**
 * Does the next step of a payout. Safe to call at any time, by several workers at once. Payouts that share `authorize` are
 * authorized together.
 */
export async function advancePayout(
  ctx: PayoutContext,
  id: PayoutId,
  authorize?: Authorize,
): Promise<NextStepMs> {
  const payout = await findPayout(ctx.db, id)
  if (payout === undefined || hasEnded(payout)) return undefined
  const sender = ctx.payoutSenders[payout.network]
  if (sender === undefined) return retryAfterMs('other', 0)
  const signed = await findSignatures(ctx.db, payout)
  return signed.length === 0
    ? begin(ctx, sender, payout, authorize ?? payoutAuthorizer(ctx, sender))
    : follow(ctx, sender, payout, signed)
}

async function begin(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  authorize: Authorize,
): Promise<NextStepMs> {
  const checked = (await recoverUnlocked(ctx, payout)) ?? (await checkPayout(ctx, sender, payout))
  const ready = 'cost' in checked ? await authorize(checked) : checked
  if (ready === undefined) return AFTER_ERROR_MS
  if (hasEnded(ready)) return undefined
  if (isWaiting(ready)) return untilRetry(ctx, ready)
  if (ready.state !== 'nonce_assigned') return SOON_MS
  return pauseAfter(await signPayout(ctx, sender, ready, []))
}

/** Everything that can stop a payout is checked before it has a nonce. Returns it as it is now, or what may be authorized. */
async function checkPayout(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<Payout | Candidate> {
  if (!isWaiting(payout)) return payout
  if (!isCompared(await findGuard(ctx.db, payout.network)))
    return holdPayout(ctx, payout, { code: 'not_compared' })
  const known = await findHold(ctx, payout)
  if (known !== undefined) return isHeldBy(payout, known) ? payout : holdPayout(ctx, payout, known)
  const screened = await screeningHold(ctx, payout)
  if (screened !== undefined) return holdPayout(ctx, payout, screened)
  const rejection = await sender.rejectionReason(senderRequestOf(payout))
  if (rejection !== undefined) return failPayout(ctx, payout, rejection)
  const { hold, cost } = await checkCost(ctx, sender, payout)
  return hold === undefined ? { payout, cost } : holdPayout(ctx, payout, hold)
}

function untilRetry({ clock }: PayoutContext, { holdCode, updatedAt, notBefore }: Payout): number {
  const now = clock.now().getTime()
  const pause = retryAfterMs(holdCode ?? 'other', now - updatedAt.getTime())
  if (holdCode !== 'contest_window' || notBefore === null) return pause
  return Math.max(SOON_MS, Math.min(pause, notBefore.getTime() - now))
}

async function follow(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<NextStepMs> {
  const read = await findRead(ctx, payout)
  if (read !== undefined && !read.final) {
    await recordBroadcast(ctx, payout, undefined)
    return UNTIL_FINAL_MS
  }
  const outcome = read === undefined ? await sender.observe(signed) : await finalOutcome(sender, read)
  switch (outcome.kind) {
    case 'final':
      await finalizePayout(ctx, payout, outcome.reference, outcome.cost)
      return undefined
    case 'seen':
      await recordBroadcast(ctx, payout, undefined)
      return pauseByAge(ctx, signed)
    case 'failed':
    case 'expired':
    case 'unknown':
      // A restored database may have an older signature than the one that was paid.
      if ((await recoverUnlocked(ctx, payout)) !== undefined) return SOON_MS
      return handleUnsent(ctx, sender, payout, signed, outcome)
  }
}

/** The transaction of this round that was read from the chain. */
async function findRead({ db }: PayoutContext, { id, round }: Payout): Promise<OutgoingTransfer | undefined> {
  const own = (await findTransferMatches(db, id)).filter(({ signedInRound }) => signedInRound === round)
  return own.find(({ final }) => final) ?? own[0]
}

async function finalOutcome(sender: PayoutSender, { reference }: OutgoingTransfer): Promise<PayoutOutcome> {
  // The estimate counts where no node says what it cost.
  const cost = await sender.costOf?.(reference).catch(() => undefined)
  return { kind: 'final', reference, ...(cost !== undefined && { cost }) }
}

async function handleUnsent(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
  outcome: Extract<PayoutOutcome, { kind: 'failed' | 'expired' | 'unknown' }>,
): Promise<NextStepMs> {
  switch (outcome.kind) {
    case 'failed':
      if (outcome.reason === NONCE_USED_BY_ANOTHER) {
        await releaseNonce(ctx, payout, signed)
        return retryAfterMs('nonce_used', 0)
      }
      return hasEnded(await failPayout(ctx, payout, outcome.reason, signed)) ? undefined : SOON_MS
    case 'expired':
      return pauseAfter(await signPayout(ctx, sender, payout, signed))
    case 'unknown':
      await broadcastAgain(ctx, sender, payout, signed)
      return pauseByAge(ctx, signed)
  }
}

/** Broadcasts the same bytes again, and replaces them when this payout's nonce is the next one that is not mined. */
async function broadcastAgain(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<void> {
  const newest = signed.at(-1)
  if (newest !== undefined) await recordBroadcast(ctx, payout, await broadcast(sender, newest))
  if (payout.nonce === null || ageOf(ctx, signed) <= STUCK_MS) return
  if ((await sender.nonces())?.next === payout.nonce) await signPayout(ctx, sender, payout, signed)
}

const pauseAfter = (hold: Hold | undefined): number =>
  hold === undefined ? READ_WITHIN_MS : retryAfterMs(hold.code, 0)

const pauseByAge = (ctx: PayoutContext, signed: readonly StoredSignature[]): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(SOON_MS, ageOf(ctx, signed) / PAUSES_PER_AGE))

const ageOf = ({ clock }: PayoutContext, signed: readonly StoredSignature[]): number =>
  clock.now().getTime() - (signed.at(-1)?.createdAt ?? clock.now()).getTime()
