import { NONCE_USED_BY_ANOTHER } from '@market/core/ports/payout-sender'
import type { Venue, VenueStep } from '@market/core/ports/venue'
import { isStopped, payoutSwitches, VENUE_SWITCH } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { HOUR, MINUTE } from '@market/kernel/clock'
import type { EarnContext } from '../pools/index.ts'
import { findSignatures, insertSignature, lockVenueTransfer } from './store.ts'
import type { VenueSignature, VenueTransfer } from './venue-transfer.ts'

/** A transaction that is not mined for this long is replaced by one with higher fees, at the same nonce. */
const STUCK_MS = 1 * MINUTE
/** How long after its transaction a return that failed is tried again. */
export const RETRY_RETURN_MS = 1 * HOUR

export type StepOutcome =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'final'; readonly reference: string }
  | { readonly kind: 'failed'; readonly reason: string }

const WAITING: StepOutcome = { kind: 'waiting' }

/**
 * Signs the transaction of a step, stores it, and only then sends it. Then observes it until it is final. If two workers sign
 * at once, one stores its bytes first and the other's are never sent.
 */
export async function advanceStep(
  ctx: EarnContext,
  venue: Venue,
  move: VenueTransfer,
  step: VenueStep,
): Promise<StepOutcome> {
  const signed = await findSignatures(ctx.db, move.id, step)
  const newest = signed.at(-1)
  if (newest === undefined) return sign(ctx, venue, move, { step, round: 1, attempt: 1 }, [])
  const outcome = await venue.observe(signed)
  switch (outcome.kind) {
    case 'final':
      return { kind: 'final', reference: outcome.reference }
    case 'seen':
      return WAITING
    case 'failed': {
      const isOver = outcome.reason === NONCE_USED_BY_ANOTHER || isRetried(ctx, step, newest)
      if (!isOver) return { kind: 'failed', reason: outcome.reason }
      return sign(ctx, venue, move, { step, round: newest.round + 1, attempt: 1 }, [])
    }
    case 'unknown':
    case 'expired':
      return sendAgain(ctx, venue, move, signed, newest)
  }
}

/** Only a return is tried again: money in the wallet must come back to the treasury. */
const isRetried = ({ clock }: EarnContext, step: VenueStep, { createdAt }: VenueSignature): boolean =>
  step === 'return' && clock.now().getTime() - createdAt.getTime() > RETRY_RETURN_MS

/** Sends the same bytes again, and replaces them when their nonce is the next one and was not mined for long. */
async function sendAgain(
  ctx: EarnContext,
  venue: Venue,
  move: VenueTransfer,
  signed: readonly VenueSignature[],
  newest: VenueSignature,
): Promise<StepOutcome> {
  if (await isFrozen(ctx, move)) return WAITING
  await venue.send(newest).catch(() => undefined)
  const ageMs = ctx.clock.now().getTime() - newest.createdAt.getTime()
  if (ageMs <= STUCK_MS || (await venue.nextNonce()) !== newest.nonce) return WAITING
  return sign(ctx, venue, move, { ...newest, attempt: newest.attempt + 1 }, signed)
}

async function sign(
  ctx: EarnContext,
  venue: Venue,
  move: VenueTransfer,
  { step, round, attempt }: Pick<VenueSignature, 'step' | 'round' | 'attempt'>,
  previous: readonly VenueSignature[],
): Promise<StepOutcome> {
  if (await isFrozen(ctx, move)) return WAITING
  const nonce = previous[0]?.nonce ?? (await venue.nextNonce())
  const signed = await venue.sign({ step, amount: move.amount }, nonce, previous)
  const isStored = await transact(ctx.db, async (tx) => {
    const locked = await lockVenueTransfer(tx, move.id)
    if (locked.state !== move.state || (await isStopped(tx, switchesOf(move)))) return false
    return insertSignature(tx, move.id, { step, round, attempt }, signed, ctx.clock.now())
  })
  // After an error the outcome is unknown: the next step observes it and sends it again.
  if (isStored) await venue.send(signed).catch(() => undefined)
  return WAITING
}

/** The switches that stop payouts of a network stop its venue wallet as well. */
// fix: venues-held
const switchesOf = ({ network }: VenueTransfer) => [VENUE_SWITCH, ...payoutSwitches(network)] as const

const isFrozen = ({ db }: EarnContext, move: VenueTransfer): Promise<boolean> =>
  transact(db, (tx) => isStopped(tx, switchesOf(move)))
