import type { PayoutBatches, PayoutSender, SignedBatch, SignedPayout } from '@market/core/ports/payout-sender'
import { findStopping, isStopped, payoutSwitches } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { later, MINUTE } from '@market/kernel/clock'
import type { PayoutContext } from '../payout-context.ts'
import { recordBroadcast } from '../record-broadcast.ts'
import {
  type DueSignature,
  findBatches,
  findDueSignatures,
  forgetSent,
  type SentBatch,
  saveBatch,
  saveSubmitAt,
} from './store.ts'

/** What is in no block for this long is sent again, by another account or with higher fees. */
const STUCK_MS = 1 * MINUTE

/**
 * EVM: sends what the treasury signed, many payouts in one transaction of a gas account. The chain pays each of them once, so
 * nothing here must be exact: several workers may do it at once, and forget it.
 */
export async function submitPayouts(ctx: PayoutContext, sender: PayoutSender): Promise<void> {
  const { network, batches } = sender
  if (batches === undefined) return
  await forgetSent(ctx.db, network, ctx.clock.now())
  for (;;) {
    if (await isFrozen(ctx, sender)) return
    const due = await findDueSignatures(ctx.db, network, { now: ctx.clock.now(), limit: batches.size })
    if (due.length === 0) return
    const place = await findPlace(ctx, sender, batches)
    if (place === undefined) return
    const payable = await withoutFailing(ctx, sender, batches, due)
    if (payable.length === 0) continue
    const signed = await signFor(batches, place, payable)
    const isAllowed = await transact(ctx.db, async (tx) => {
      // fix: freeze-stops-submitting
      if ((await findStopping(tx, payoutSwitches(network))) !== undefined) return false
      await saveSubmitAt(tx, network, payable.map(referenceOf), later(ctx.clock.now(), STUCK_MS))
      return true
    })
    if (!isAllowed) return
    const error = await sendFrom(ctx, sender, batches, place, signed)
    await recordAll(ctx, payable, error)
    if (error === undefined) continue
    // The next account sends them, or this one with higher fees.
    await saveSubmitAt(ctx.db, network, payable.map(referenceOf), ctx.clock.now())
    return
  }
}

/** The transaction, or why there is none. */
const signFor = (
  batches: PayoutBatches,
  { account, nonce, outbid }: Place,
  payouts: readonly DueSignature[],
): Promise<SignedBatch | string> =>
  batches
    .sign({ account, nonce, payouts, outbid })
    // At the cap of fees nothing outbids it. The pools may have dropped it.
    .catch(() => batches.sign({ account, nonce, payouts, outbid: undefined }))
    .catch(messageOf)

/** A node has this or another transaction at the nonce, so only a higher fee replaces it. */
const IS_KNOWN = /underpriced|already known/i

const NOT_TAKEN = { reference: null, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

/**
 * Sends a batch, and remembers when and with which fees. Fees that no node took are not remembered, or they would rise for ever.
 * Returns the error of the nodes, or undefined.
 */
async function sendFrom(
  ctx: PayoutContext,
  { network }: PayoutSender,
  batches: PayoutBatches,
  { account, nonce, outbid }: Place,
  signed: SignedBatch | string,
): Promise<string | undefined> {
  const error =
    typeof signed === 'string' ? signed : await batches.send(signed).then(() => undefined, messageOf)
  const isTaken = typeof signed !== 'string' && (error === undefined || IS_KNOWN.test(error))
  const sent = isTaken ? signed : { ...NOT_TAKEN, ...outbid }
  await transact(ctx.db, (tx) => saveBatch(tx, network, { ...sent, account, nonce, sentAt: ctx.clock.now() }))
  return error
}

const referenceOf = ({ reference }: DueSignature): string => reference

/**
 * Solana: sends one transaction. Returns the error of the nodes, or undefined. Only the chain tells whether the transaction took effect,
 * so the error is for operators. A recovered signature has no bytes.
 */
export const broadcast = async ({ send }: PayoutSender, signed: SignedPayout): Promise<string | undefined> =>
  signed.bytes === '' ? undefined : send?.(signed).then(() => undefined, messageOf)

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

/** Asked again in the transaction that stores when a batch was sent. What is not submitted under a freeze expires. */
const isFrozen = ({ db }: PayoutContext, { network }: PayoutSender): Promise<boolean> =>
  transact(db, (tx) => isStopped(tx, payoutSwitches(network)))

interface Place {
  readonly account: string
  readonly nonce: bigint
  /** The transaction at this nonce that is not mined. */
  readonly outbid: SentBatch | undefined
}

/** An account whose newest transaction is mined; else the one whose transaction waits longest, when that is stuck. */
async function findPlace(
  ctx: PayoutContext,
  { network }: PayoutSender,
  batches: PayoutBatches,
): Promise<Place | undefined> {
  const sent = new Map((await findBatches(ctx.db, network)).map((one) => [one.account, one]))
  const waiting: (Place & { readonly outbid: SentBatch })[] = []
  for (const account of batches.accounts) {
    const nonce = await batches.mined(account)
    const newest = sent.get(account)
    if (newest === undefined || newest.nonce < nonce) return { account, nonce, outbid: undefined }
    // A reorganization or a node that is behind: the transaction at this nonce is replaced like one that is stuck.
    waiting.push({ account, nonce, outbid: newest })
  }
  const [oldest] = waiting.toSorted((a, b) => a.outbid.sentAt.getTime() - b.outbid.sentAt.getTime())
  if (oldest === undefined) return undefined
  return ctx.clock.now() >= later(oldest.outbid.sentAt, STUCK_MS) ? oldest : undefined
}

/** Those that would fail are tried again later, so that they cost no gas. Operators see why. */
async function withoutFailing(
  ctx: PayoutContext,
  { network }: PayoutSender,
  batches: PayoutBatches,
  due: readonly DueSignature[],
): Promise<DueSignature[]> {
  const failures = await batches.failures(due)
  const failing = due.filter((_, index) => failures[index] !== undefined)
  if (failing.length > 0)
    await saveSubmitAt(ctx.db, network, failing.map(referenceOf), later(ctx.clock.now(), STUCK_MS))
  for (const [index, one] of due.entries()) {
    const failure = failures[index]
    if (failure !== undefined) await recordAll(ctx, [one], failure)
  }
  return due.filter((_, index) => failures[index] === undefined)
}

async function recordAll(
  ctx: PayoutContext,
  due: readonly DueSignature[],
  error: string | undefined,
): Promise<void> {
  for (const { payout } of due) await recordBroadcast(ctx, payout, error)
}
