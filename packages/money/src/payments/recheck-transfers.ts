import type { Needs } from '@market/core/context'
import type { Chain, IncomingTransfer, Observation } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { DAY, EVER, earlier, FOREVER, later, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { adjustRecorded, balanceInSuspense, postNew, recordedAmount } from './post-transfer.ts'
import type { PurposeKind } from './purpose.ts'
import { acquireForCheck, lockTransfer, saveTransfer } from './store.ts'
import {
  arrivalJournal,
  type ClaimedTransfer,
  isSamePurpose,
  reversalJournal,
  type Transfer,
  transferOf,
} from './transfer.ts'

const CHECK_EVERY_MS = 5 * SECOND
const BATCH = 50
/** The part of a batch for which unclaimed transfers come first. */
const BATCH_UNCLAIMED = 10

/** A transfer that a reorganisation dropped is usually included again; after this time it counts as reversed. */
const MISSING_FOR_MS = 10 * MINUTE

/** Longer than finality takes on any network. Used when the chain shows a transfer but not whether it is final. */
const CERTAINLY_FINAL_MS = DAY

const ANY_TIME = { notBefore: EVER, notAfter: FOREVER }

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/**
 * Runs when the chain reverses a payment, in the same transaction and before the money leaves the ledger: the handler
 * first returns to escrow what was moved on from there.
 */
type OnReversed<Kind extends PurposeKind> = (
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<Kind>,
) => Promise<void>

/** One handler per kind of purpose: implemented by the module that owns the purpose, registered by the worker. */
export type ReversalHandlers = { readonly [Kind in PurposeKind]: OnReversed<Kind> }

/**
 * Checks recorded transfers on their chain again until they are final, and reverses those that the chain dropped. An
 * error with one transfer or network does not stop the others; all errors are thrown at the end.
 */
export async function recheckTransfers(ctx: Ctx, handlers: ReversalHandlers): Promise<number> {
  const now = ctx.clock.now()
  const transfers = await acquireBatch(ctx, { now, before: earlier(now, CHECK_EVERY_MS) })
  const failures: unknown[] = []
  const byNetwork = Map.groupBy(transfers, ({ network }) => network)
  await Promise.all(
    [...byNetwork].map(async ([network, ofNetwork]) => {
      const chain = ctx.chains[network]
      if (chain !== undefined) failures.push(...(await recheckOn(ctx, chain, ofNetwork, handlers)))
    }),
  )
  if (failures.length > 0) throw new AggregateError(failures, 'Some transfers could not be checked')
  return transfers.length
}

/**
 * Anyone can send many tiny transfers that nobody claims. Both kinds have a share of the batch, so that neither delays
 * the other; a share that is not used goes to the other kind.
 */
async function acquireBatch({ db }: Ctx, at: { now: Date; before: Date }): Promise<Transfer[]> {
  const unclaimed = await acquireForCheck(db, 'unclaimed', at, BATCH_UNCLAIMED)
  const claimed = await acquireForCheck(db, 'claimed', at, BATCH - unclaimed.length)
  const free = unclaimed.length < BATCH_UNCLAIMED ? 0 : BATCH - unclaimed.length - claimed.length
  const more = free === 0 ? [] : await acquireForCheck(db, 'unclaimed', at, free)
  return [...claimed, ...unclaimed, ...more]
}

async function recheckOn(
  ctx: Ctx,
  chain: Chain,
  transfers: readonly Transfer[],
  handlers: ReversalHandlers,
): Promise<unknown[]> {
  const failures: unknown[] = []
  for (const transfer of transfers) {
    let observation: Observation
    try {
      observation = await observe(chain, transfer)
    } catch (error) {
      // The chain is unavailable, so the remaining requests would fail too.
      return [...failures, error]
    }
    await transact(ctx.db, (tx) => applyObservation(ctx, tx, transfer, observation, handlers)).catch(
      (error: unknown) => failures.push(error),
    )
  }
  return failures
}

/** Filtered by payer when it is known: where several wallets paid, only this one's part was recorded. */
const observe = (chain: Chain, { reference, payer }: Transfer): Promise<Observation> =>
  chain.findTransfer({
    reference,
    minAmount: usdc(1n),
    ...(payer === null ? {} : { payers: [payer] }),
    ...ANY_TIME,
  })

async function applyObservation(
  ctx: Ctx,
  tx: Tx,
  checked: Transfer,
  observation: Observation,
  handlers: ReversalHandlers,
): Promise<void> {
  const known = await lockTransfer(tx, checked.network, checked.reference)
  if (known === undefined || known.state !== 'seen') return
  // Claimed or recorded again while the chain was queried: the observation may not fit any more.
  if (!isSamePurpose(known.purpose, checked.purpose)) return
  if (known.arrivedAt.getTime() !== checked.arrivedAt.getTime()) return
  const now = ctx.clock.now()
  if (known.purpose === null && observation.kind === 'ok')
    return updateUnclaimed(ctx, tx, known, observation.transfer)
  if (isPresent(observation, known)) return saveTransfer(tx, updated(known, observation, now), now)
  const missingSince = known.missingSince ?? now
  if (now < later(missingSince, MISSING_FOR_MS)) return saveTransfer(tx, { ...known, missingSince }, now)
  await reverse(ctx, tx, { ...known, missingSince }, observation, handlers)
}

async function reverse(
  ctx: Ctx,
  tx: Tx,
  known: Transfer,
  observation: Observation,
  handlers: ReversalHandlers,
): Promise<void> {
  const { micros } = await recordedAmount(tx, known)
  await saveTransfer(tx, { ...known, state: 'gone' }, ctx.clock.now())
  if (known.purpose !== null) {
    const onReversed = handlers[known.purpose.kind] as OnReversed<PurposeKind>
    await onReversed(ctx, tx, { ...known, purpose: known.purpose })
  }
  await postNew(ctx, tx, reversalJournal(known, await balanceInSuspense(tx, known)))
  if (observation.kind === 'ok')
    await recordAgain(ctx, tx, known.network, { ...observation.transfer, amount: usdc(micros) })
}

/**
 * `ambiguous_payer` is reported only for a transaction that is on the chain. Every other rejection, also a failed
 * transaction, may come from a block that a reorganisation drops.
 */
const isPresent = (observation: Observation, { amount }: Transfer): boolean =>
  observation.kind === 'ok'
    ? observation.transfer.amount === amount
    : observation.kind === 'rejected' && observation.reason === 'ambiguous_payer'

function updated(known: Transfer, observation: Observation, now: Date): Transfer {
  if (observation.kind === 'ok') {
    const { block, at, final } = observation.transfer
    return { ...known, block, happenedAt: at, missingSince: null, state: final ? 'final' : 'seen' }
  }
  const isOld = known.missingSince === null && now > later(known.happenedAt, CERTAINLY_FINAL_MS)
  return { ...known, missingSince: null, state: isOld && known.purpose === null ? 'final' : 'seen' }
}

/** Nothing depends on an unclaimed transfer, so a changed amount is only corrected. */
async function updateUnclaimed(ctx: Ctx, tx: Tx, known: Transfer, seen: IncomingTransfer): Promise<void> {
  if (known.amount !== seen.amount) await adjustRecorded(ctx, tx, known, seen.amount)
  await saveTransfer(tx, transferOf(known.network, seen, known.arrivedAt), ctx.clock.now())
}

/**
 * The transaction was included again with another amount: it is recorded as unclaimed. The watcher or the next check,
 * which does not filter by payer, corrects the amount.
 */
async function recordAgain(ctx: Ctx, tx: Tx, network: Network, seen: IncomingTransfer): Promise<void> {
  const now = ctx.clock.now()
  const transfer: Transfer = { ...transferOf(network, seen, now), payer: null, state: 'seen' }
  await saveTransfer(tx, transfer, now)
  await postNew(ctx, tx, arrivalJournal(transfer))
}
