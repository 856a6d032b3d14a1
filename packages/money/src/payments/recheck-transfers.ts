import type { Needs } from '@market/core/context'
import type { Chain, Observation, TransferCheck } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { earlier } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { postNew } from '../ledger/index.ts'
import type { ReversalHandler } from './intents/intent.ts'
import type { PurposeKind } from './purpose.ts'
import { recordAgain, replaceUnclaimed } from './record-again.ts'
import { acquireForCheck, lockTransfer, saveTransfer } from './store.ts'
import { CHECK_EVERY_MS, isSamePurpose, reversalJournal, type Transfer } from './transfer.ts'

const BATCH = 50
/** The part of a batch for which unclaimed transfers come first. */
const BATCH_UNCLAIMED = 10

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/** What a reversed payment means for what it paid for. */
export type ReversalHandlers = { readonly [Kind in PurposeKind]: ReversalHandler<Kind> }

/** Providers that contradict each other about the final chain. */
export interface Disagreement {
  readonly network: Network
  readonly reference: string
  readonly providers: readonly string[]
}

interface Recheck {
  readonly purposes: ReversalHandlers
  readonly onDisagreement: (disagreement: Disagreement) => void
}

/**
 * Checks transfers by themselves that were not found in the final blocks where they were seen, and those that were claimed
 * with another payer: the providers make each of them final, or it is reversed. An error with one transfer or network does not
 * stop the others; all errors are thrown at the end.
 */
export async function recheckTransfers(
  ctx: Ctx,
  purposes: ReversalHandlers,
  onDisagreement: Recheck['onDisagreement'] = () => undefined,
): Promise<number> {
  const now = ctx.clock.now()
  const at = { now, before: earlier(now, CHECK_EVERY_MS) }
  const failures: unknown[] = []
  let checked = 0
  await Promise.all(
    Object.values(ctx.chains).map(async (chain) => {
      const transfers = await acquireBatch(ctx, chain.network, at)
      checked += transfers.length
      failures.push(...(await recheckOn(ctx, chain, transfers, { purposes, onDisagreement })))
    }),
  )
  if (failures.length > 0) throw new AggregateError(failures, 'Some transfers could not be checked')
  return checked
}

/**
 * Anyone can send many tiny transfers that nobody claims. Both kinds have a share of the batch, so that neither delays
 * the other; a share that is not used goes to the other kind.
 */
async function acquireBatch(
  { db }: Ctx,
  network: Network,
  at: { now: Date; before: Date },
): Promise<Transfer[]> {
  const unclaimed = await acquireForCheck(db, network, 'unclaimed', at, BATCH_UNCLAIMED)
  const claimed = await acquireForCheck(db, network, 'claimed', at, BATCH - unclaimed.length)
  const free = unclaimed.length < BATCH_UNCLAIMED ? 0 : BATCH - unclaimed.length - claimed.length
  const more = free === 0 ? [] : await acquireForCheck(db, network, 'unclaimed', at, free)
  return [...claimed, ...unclaimed, ...more]
}

async function recheckOn(
  ctx: Ctx,
  chain: Chain,
  transfers: readonly Transfer[],
  { purposes, onDisagreement }: Recheck,
): Promise<unknown[]> {
  const failures: unknown[] = []
  const { network } = chain
  for (const transfer of transfers) {
    let check: TransferCheck
    try {
      check = await chain.checkTransfer(transfer)
    } catch (error) {
      // The chain is unavailable, so the remaining requests would fail too.
      return [...failures, error]
    }
    const { reference } = transfer
    if (check.disagreeing.length > 0) onDisagreement({ network, reference, providers: check.disagreeing })
    await transact(ctx.db, (tx) => applyCheck(ctx, tx, transfer, check, purposes)).catch((error: unknown) =>
      failures.push(error),
    )
  }
  return failures
}

async function applyCheck(
  ctx: Ctx,
  tx: Tx,
  checked: Transfer,
  { verdict, observation }: TransferCheck,
  purposes: ReversalHandlers,
): Promise<void> {
  const known = await lockTransfer(tx, checked)
  if (known === undefined || known.state !== 'seen') return
  // Claimed or recorded again while the chain was queried: the observation may not fit any more.
  // fix: checked-payer-only
  if (!isSamePurpose(known.purpose, checked.purpose) || known.payer !== checked.payer) return
  if (known.arrivedAt.getTime() !== checked.arrivedAt.getTime()) return
  if (verdict === 'reversed') return reverse(ctx, tx, known, observation, purposes)
  const now = ctx.clock.now()
  const seen = observation.kind === 'ok' ? observation.transfer : undefined
  if (seen !== undefined && seen.amount !== known.amount && known.purpose === null)
    return replaceUnclaimed(ctx, tx, known, { ...seen, final: false })
  if (seen === undefined || seen.amount !== known.amount)
    return saveTransfer(tx, { ...known, missingSince: known.missingSince ?? now }, now)
  const { block, at: happenedAt } = seen
  const state = verdict === 'final' ? 'final' : 'seen'
  await saveTransfer(tx, { ...known, block, happenedAt, missingSince: null, state }, now)
}

async function reverse(
  ctx: Ctx,
  tx: Tx,
  known: Transfer,
  observation: Observation,
  purposes: ReversalHandlers,
): Promise<void> {
  const now = ctx.clock.now()
  await saveTransfer(tx, { ...known, missingSince: known.missingSince ?? now, state: 'gone' }, now)
  if (known.purpose !== null) {
    const { onReversed } = purposes[known.purpose.kind] as ReversalHandler<PurposeKind>
    await onReversed(ctx, tx, { ...known, purpose: known.purpose })
  }
  await postNew(ctx, tx, reversalJournal(known))
  // The transaction was included again, with another transfer in this place.
  if (observation.kind === 'ok') await recordAgain(ctx, tx, known, { ...observation.transfer, final: false })
}
