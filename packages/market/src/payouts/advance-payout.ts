import { MINUTE, SECOND } from '@market/kernel/clock'
import type { Rail } from '../ports/rail.ts'
import { admit, hold } from './admit.ts'
import { failPayout, settlePayout } from './end-payout.ts'
import { feeReason } from './hold-reason.ts'
import { hasEnded, isWaiting, orderOf, type Payout, type PayoutId, type StoredSignature } from './payout.ts'
import type { PayoutContext } from './rails.ts'
import { sendAnyway, signOnce } from './sign-once.ts'
import { findPayout, findSignatures } from './store.ts'

/** When to come back, in milliseconds; undefined when the payout has ended. */
export type Again = number | undefined

const SOON_MS = 1 * SECOND
const HELD_MS = 30 * SECOND
/** Finality can take a quarter of an hour: the longer it took, the longer the pauses, up to this. */
const PATIENT_MS = 15 * SECOND
const PATIENCE = 20

/** On EVM a signature that nobody mines for this long is replaced by one that pays more, at the same nonce. */
const STUCK_MS = 1 * MINUTE

/** Brings a payout one step on. Safe to be called by anybody, at any time, as often as they like. */
export async function advancePayout(ctx: PayoutContext, id: PayoutId): Promise<Again> {
  const payout = await findPayout(ctx.db, id)
  if (payout === undefined || hasEnded(payout)) return undefined
  const rail = ctx.rails[payout.network]
  if (rail === undefined) return HELD_MS
  const signed = await findSignatures(ctx.db, id)
  return signed.length === 0 ? begin(ctx, rail, payout) : follow(ctx, rail, payout, signed)
}

async function begin(ctx: PayoutContext, rail: Rail, payout: Payout): Promise<Again> {
  const ready = isWaiting(payout) ? await letThrough(ctx, rail, payout) : payout
  if (hasEnded(ready)) return undefined
  if (isWaiting(ready)) return HELD_MS
  await signOnce(ctx, rail, ready, [])
  return SOON_MS
}

/** All that can be asked is asked before there is a number. */
async function letThrough(ctx: PayoutContext, rail: Rail, payout: Payout): Promise<Payout> {
  const refusal = await rail.refusal(orderOf(payout))
  if (refusal !== undefined) return failPayout(ctx, payout, refusal)
  const dear = await feeReason(ctx, rail, payout)
  return dear === undefined ? admit(ctx, rail, payout) : hold(ctx, payout, dear)
}

async function follow(
  ctx: PayoutContext,
  rail: Rail,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<Again> {
  const outcome = await rail.look(signed)
  switch (outcome.kind) {
    case 'final':
      await settlePayout(ctx, payout, outcome.reference)
      return undefined
    case 'failed':
      await failPayout(ctx, payout, outcome.why)
      return undefined
    case 'seen':
      return Math.min(PATIENT_MS, Math.max(SOON_MS, ageOf(ctx, signed) / PATIENCE))
    case 'expired':
      await signOnce(ctx, rail, payout, signed)
      return SOON_MS
    case 'unknown':
      await sendAgain(ctx, rail, payout, signed)
      return SOON_MS
  }
}

/** The same bytes again; and others in their place when it is these, and none before them, that nobody mines. */
async function sendAgain(
  ctx: PayoutContext,
  rail: Rail,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<void> {
  const newest = signed.at(-1)
  if (newest !== undefined) await sendAnyway(rail, newest)
  if (payout.nonce === null || ageOf(ctx, signed) <= STUCK_MS) return
  if ((await rail.firstNonce()) === payout.nonce) await signOnce(ctx, rail, payout, signed)
}

const ageOf = ({ clock }: PayoutContext, signed: readonly StoredSignature[]): number =>
  clock.now().getTime() - (signed.at(-1)?.createdAt ?? clock.now()).getTime()
