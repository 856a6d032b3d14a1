import type { Needs } from '@market/core/context'
import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutSender, SignedPayoutOutcome } from '@market/core/ports/payout-sender'
import { transact } from '@market/database/transact'
import { later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { type Checked, disagreeHold, tooFew } from './authorize-payouts.ts'
import { sendAgain } from './batches/store.ts'
import { broadcast } from './batches/submit-payouts.ts'
import { reserveDue, saveDue } from './due/store.ts'
import { failPayout, finalizePayout } from './end-payout.ts'
import { checkCost, findHold, holdPayout } from './find-hold.ts'
import { findGuard } from './guards/store.ts'
import { type Hold, retryAfterMs } from './hold.ts'
import { screeningHold } from './limits/screening-hold.ts'
import { decideAccount } from './limits/token-account.ts'
import { isCompared } from './outgoing/guard.ts'
import { isOwn, type OutgoingTransfer, type TransferMatch } from './outgoing/outgoing-transfer.ts'
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
import { recordBroadcast } from './record-broadcast.ts'
import { recoverPayout, recoverUnlocked } from './recover-payout.ts'
import { signAgain } from './sign-again.ts'
import { findSignatures } from './signatures/store.ts'
import { findPayout, isHeldBy, lockPayout, savePayout } from './store.ts'

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

const LONGEST_REJECTION = 100

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
  return isWaiting(payout)
    ? begin(ctx, sender, payout, authorize ?? payoutAuthorizer(ctx, sender))
    : follow(ctx, sender, payout)
}

async function begin(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  authorize: Authorize,
): Promise<NextStepMs> {
  const matches = await findTransferMatches(ctx.db, payout)
  const checked = (await recoverUnlocked(ctx, payout, matches)) ?? (await checkPayout(ctx, sender, payout))
  const outcome = 'cost' in checked ? await authorize(checked) : { payout: checked }
  if (outcome === undefined) return AFTER_ERROR_MS
  if ('rejection' in outcome)
    return hasEnded(await failPayout(ctx, payout, outcome.rejection)) ? undefined : SOON_MS
  const { payout: now, send } = outcome
  if (hasEnded(now)) return undefined
  if (isWaiting(now)) return untilRetry(ctx, now)
  if (!('cost' in checked)) return SOON_MS
  await recordBroadcast(ctx, now, send && (await broadcast(sender, send)))
  return READ_WITHIN_MS
}

/**
 * Everything that can stop a payout is checked before it is signed, and what is signed leaves this process only when it was
 * authorized. Returns the payout as it is now, or what may be authorized.
 */
async function checkPayout(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<Payout | Checked> {
  const guard = await findGuard(ctx.db, payout.network)
  if (!isCompared(guard)) return holdPayout(ctx, payout, { code: 'not_compared' })
  const known = await findHold(ctx, payout, guard)
  if (known !== undefined) return isHeldBy(payout, known) ? payout : holdPayout(ctx, payout, known)
  const screened = await screeningHold(ctx, payout)
  if (screened !== undefined) return holdPayout(ctx, payout, screened)
  // Where many are sent together, what was signed is tried for all of them at once.
  const rejection =
    sender.batches === undefined
      ? await sender.rejectionReason(senderRequestOf(payout))
      : sender.batches.invalidPayee(senderRequestOf(payout))
  if (rejection !== undefined) return failPayout(ctx, payout, rejection)
  const { hold, cost } = await checkCost(ctx, sender, payout)
  if (hold !== undefined) return holdPayout(ctx, payout, hold)
  const account = cost.createsAccount
    ? await transact(ctx.db, (tx) => decideAccount(ctx, tx, payout, true))
    : { opens: false }
  if (account.hold !== undefined) return holdPayout(ctx, payout, account.hold)
  const opensAccount = account.opens
  if (sender.groups !== undefined) return { payout, cost, opensAccount }
  const signed = await sender.sign({ ...senderRequestOf(payout), opensAccount }, 0).catch(tooFew)
  if (signed instanceof TooFewProviders) return holdPayout(ctx, payout, disagreeHold(signed))
  return { payout, cost, opensAccount, signed }
}

function untilRetry({ clock }: PayoutContext, { holdCode, updatedAt, notBefore }: Payout): number {
  const now = clock.now().getTime()
  const pause = retryAfterMs(holdCode ?? 'other', now - updatedAt.getTime())
  if (holdCode !== 'contest_window' || notBefore === null) return pause
  return Math.max(SOON_MS, Math.min(pause, notBefore.getTime() - now))
}

async function follow(ctx: PayoutContext, sender: PayoutSender, payout: Payout): Promise<NextStepMs> {
  // A restored database may not know what was paid.
  const matches = await findTransferMatches(ctx.db, payout)
  const recovered = await recoverUnlocked(ctx, payout, matches)
  if (recovered !== undefined) return recovered.holdCode === null ? SOON_MS : untilRetry(ctx, recovered)
  if (payout.holdCode === 'transfer_mismatch') await endMismatch(ctx, payout)
  const read = paymentIn(payout, matches)
  if (read !== undefined && !read.final) {
    await recordBroadcast(ctx, payout, undefined)
    return UNTIL_FINAL_MS
  }
  const signed = await findSignatures(ctx.db, payout)
  // One that was recovered has no signature on EVM. The chain has lost its payment again, and what was lost may be alive.
  if (read === undefined && signed.length === 0) return pauseAfter(await signAgain(ctx, sender, payout, []))
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
    case 'ending':
    case 'unknown':
      return handleUnsent(ctx, sender, payout, signed, outcome)
  }
}

/** A reorganization has removed the payment that did not match. */
const endMismatch = (ctx: PayoutContext, { id }: Payout): Promise<unknown> =>
  transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.holdCode !== 'transfer_mismatch') return
    if ((await recoverPayout(ctx, tx, locked)) === undefined)
      await savePayout(tx, locked, 'record_broadcast', {}, ctx.clock.now())
  })

/** The payment of this round that was read from the chain. */
function paymentIn(payout: Payout, matches: readonly TransferMatch[]): OutgoingTransfer | undefined {
  const own = matches.filter((match) => isOwn(payout, match))
  return own.find(({ final }) => final) ?? own[0]
}

async function finalOutcome(
  sender: PayoutSender,
  { reference }: OutgoingTransfer,
): Promise<SignedPayoutOutcome> {
  // The estimate counts where no node says what it cost.
  const cost = await sender.costOf?.(reference).catch(() => undefined)
  return { kind: 'final', reference, ...(cost !== undefined && { cost }) }
}

async function handleUnsent(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
  outcome: Extract<SignedPayoutOutcome, { kind: 'failed' | 'expired' | 'ending' | 'unknown' }>,
): Promise<NextStepMs> {
  const end = async (reason: string) =>
    hasEnded(await failPayout(ctx, payout, reason, signed)) ? undefined : SOON_MS
  switch (outcome.kind) {
    case 'failed':
    case 'expired': {
      // Another payout of the transaction can be why it failed, so each is signed by itself.
      if (outcome.kind === 'failed' && !isShared(signed, outcome.reference)) return end(outcome.reason)
      const rejection = await sender.rejectionReason(senderRequestOf(payout))
      if (rejection !== undefined) return end(rejection)
      return pauseAfter(await signAgain(ctx, sender, payout, signed))
    }
    case 'ending': {
      // It may still be paid, for example when a payee is not denied any more. So it fails when that is over.
      const rejection = await sender.rejectionReason(senderRequestOf(payout))
      if (rejection !== undefined)
        // fix: alive-is-held
        return holdAlive(ctx, payout, signed, rejection)
      return pauseAfter(await signAgain(ctx, sender, payout, signed))
    }
    case 'unknown':
      await sendUnsent(ctx, sender, payout, signed)
      return pauseByAge(ctx, signed)
  }
}

const isShared = (signed: readonly StoredSignature[], reference: string): boolean =>
  signed.some((one) => one.reference === reference && one.isShared)

async function holdAlive(
  ctx: PayoutContext,
  { id, round }: Payout,
  signed: readonly StoredSignature[],
  rejection: string,
): Promise<number> {
  const last = signed.reduce((end, { validTo }) => (validTo > end ? validTo : end), 0n)
  const until = new Date((Number(last) + 1) * SECOND).toISOString()
  const detail = `${rejection.slice(0, LONGEST_REJECTION)}, until ${until}`
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.round !== round || locked.holdDetail === detail) return
    // Another worker may have signed it again meanwhile.
    if ((await findSignatures(tx, locked)).length !== signed.length) return
    const hold = { code: 'authorization_alive', detail } as const
    await savePayout(tx, locked, 'suspend', { hold }, ctx.clock.now())
  })
  return retryAfterMs('authorization_alive', 0)
}

/** Sends the same bytes again. */
async function sendUnsent(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<void> {
  const newest = signed.at(-1)
  if (newest === undefined) return
  if (sender.batches !== undefined) return sendAgain(ctx.db, payout.id, ctx.clock.now())
  await recordBroadcast(ctx, payout, await broadcast(sender, newest))
}

const pauseAfter = (hold: Hold | undefined): number =>
  hold === undefined ? READ_WITHIN_MS : retryAfterMs(hold.code, 0)

const pauseByAge = (ctx: PayoutContext, signed: readonly StoredSignature[]): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(SOON_MS, ageOf(ctx, signed) / PAUSES_PER_AGE))

const ageOf = ({ clock }: PayoutContext, signed: readonly StoredSignature[]): number =>
  clock.now().getTime() - (signed.at(-1)?.createdAt ?? clock.now()).getTime()
