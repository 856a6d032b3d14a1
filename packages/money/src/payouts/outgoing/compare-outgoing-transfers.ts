import type { Needs } from '@market/core/context'
import type { Chain, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { currentEpoch } from '@market/database/epoch'
import { transact } from '@market/database/transact'
import { SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { beginEpoch, beginReading, findGuard, saveGuard } from '../guards/store.ts'
import { type Guard, isCompared } from './guard.ts'
import { deleteReversed, saveOutgoingTransfers } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'chains'>

const PAGE = 100
/** After the first comparison new transfers are rare, so one worker's reading is used by all for this long. */
const READ_EVERY_MS = 5 * SECOND

/**
 * Stores the outgoing transfers of a treasury as the chain shows them. The network is open for payouts when all transfers
 * of earlier database epochs are known. Several workers may run it at once.
 */
export async function compareOutgoingTransfers(ctx: Ctx, network: Network): Promise<void> {
  const chain = ctx.chains[network]
  if (chain === undefined) return
  const startedAt = ctx.clock.now()
  const guard = await currentGuard(ctx, chain)
  if (guard === undefined || isFresh(guard, startedAt)) return
  const number = await beginReading(ctx.db, network)
  // Asked before the reading, so that the reading shows everything up to this height.
  const { final } = await chain.heights()
  const reading = await readToEnd(ctx, chain, guard)
  if (reading === undefined) return
  await transact(ctx.db, async (tx) => {
    const locked = await findGuard(tx, network, 'exclusive')
    if (!isUnchanged(locked, guard, reading.stored)) return
    await deleteReversed(tx, network, final, reading.seen)
    const comparedAt = locked.comparedAt ?? (final >= guard.horizon ? ctx.clock.now() : null)
    await saveGuard(tx, network, { readAt: startedAt, comparedAt, reading: number })
  })
}

/** The horizon is read after the epoch, so everything that an earlier epoch signed was signed before the horizon. */
async function currentGuard(ctx: Ctx, chain: Chain): Promise<Guard | undefined> {
  const { network } = chain
  const known = await findGuard(ctx.db, network)
  if (known?.isCurrentEpoch === true) return known
  const databaseEpoch = await currentEpoch(ctx.db)
  const { horizon } = await chain.heights()
  await transact(ctx.db, (tx) => beginEpoch(tx, { network, databaseEpoch, horizon, at: ctx.clock.now() }))
  const begun = await findGuard(ctx.db, network)
  return begun?.isCurrentEpoch === true ? begun : undefined
}

function isFresh(guard: Guard, now: Date): boolean {
  const age = now.getTime() - guard.readAt.getTime()
  return isCompared(guard) && age >= 0 && age < READ_EVERY_MS
}

interface Reading {
  /** The last stored position. */
  readonly stored: string | null
  readonly seen: readonly string[]
}

/** Undefined when another worker has read further meanwhile. */
async function readToEnd(ctx: Ctx, chain: Chain, guard: Guard): Promise<Reading | undefined> {
  const seen: string[] = []
  let { position: stored } = guard
  let from = stored
  let isFinal = true
  for (;;) {
    const { outgoingTransfers, position, isEnd } = await chain.outgoingTransfersAfter(from ?? undefined, PAGE)
    // A page can be empty and still have another position.
    if (position === from) return { stored, seen }
    // Transfers that are not final are read again next time, so the stored position stays before them.
    isFinal &&= outgoingTransfers.every(({ final }) => final)
    const next = isFinal ? position : stored
    if (!(await savePage(ctx, guard, outgoingTransfers, { stored, next }))) return undefined
    seen.push(...outgoingTransfers.map(({ reference }) => reference))
    stored = next
    from = position
    if (isEnd === true) return { stored, seen }
  }
}

/** False when another worker has moved the position: this page may be older than what is stored. */
const savePage = (
  ctx: Ctx,
  guard: Guard,
  outgoingTransfers: readonly ObservedOutgoingTransfer[],
  { stored, next }: { stored: string | null; next: string | null },
): Promise<boolean> =>
  transact(ctx.db, async (tx) => {
    if (!isUnchanged(await findGuard(tx, guard.network, 'exclusive'), guard, stored)) return false
    await saveOutgoingTransfers(tx, guard.network, outgoingTransfers, ctx.clock.now())
    if (next !== stored) await saveGuard(tx, guard.network, { position: next })
    return true
  })

const isUnchanged = (locked: Guard | undefined, guard: Guard, stored: string | null): locked is Guard =>
  locked?.isCurrentEpoch === true &&
  locked.databaseEpoch === guard.databaseEpoch &&
  locked.position === stored
