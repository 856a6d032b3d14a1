import type { Needs } from '@market/core/context'
import type { Chain, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { transact } from '@market/database/transact'
import { SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { type Gate, isCompared } from './guard.ts'
import { beginEpoch, currentEpoch, findGate, removeGone, saveGate, saveOutgoingTransfers } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'chains'>

const PAGE = 100
/** Once all is known that left before, news are rare: one worker's reading serves them all for so long. */
const READ_EVERY_MS = 5 * SECOND

/**
 * Writes down what left a treasury, as the chain shows it, and opens the network for payouts once all is known that
 * left before this database_epoch of the database. Safe to do for many workers at once.
 */
export async function compareOutgoingTransfers(ctx: Ctx, network: Network): Promise<void> {
  const chain = ctx.chains[network]
  if (chain === undefined) return
  const began = ctx.clock.now()
  const gate = await gateOfThisLife(ctx, chain)
  if (gate === undefined || isFresh(gate, began)) return
  // Before the reading: what is final now is part of what is read.
  const { final } = await chain.heights()
  const reading = await readToEnd(ctx, chain, gate)
  if (reading === undefined) return
  await transact(ctx.db, async (tx) => {
    const now = await findGate(tx, network, 'alone')
    if (!isWhereWeLeftIt(now, gate, reading.stored)) return
    await removeGone(tx, network, final, reading.shown)
    const comparedAt = now.comparedAt ?? (final >= gate.horizon ? ctx.clock.now() : null)
    await saveGate(tx, network, { readAt: began, comparedAt })
  })
}

/** The horizon is asked for after the database_epoch was seen: whatever an earlier database_epoch signed was signed before that. */
async function gateOfThisLife(ctx: Ctx, chain: Chain): Promise<Gate | undefined> {
  const { network } = chain
  const known = await findGate(ctx.db, network)
  if (known?.isCurrentEpoch === true) return known
  const database_epoch = await currentEpoch(ctx.db)
  const { horizon } = await chain.heights()
  await transact(ctx.db, (tx) => beginEpoch(tx, { network, database_epoch, horizon, at: ctx.clock.now() }))
  const begun = await findGate(ctx.db, network)
  return begun?.isCurrentEpoch === true ? begun : undefined
}

function isFresh(gate: Gate, now: Date): boolean {
  const age = now.getTime() - gate.readAt.getTime()
  return isCompared(gate) && age >= 0 && age < READ_EVERY_MS
}

interface Reading {
  /** The position that was written down last. */
  readonly stored: string | null
  readonly shown: readonly string[]
}

/** Undefined when somebody else read on meanwhile: theirs counts. */
async function readToEnd(ctx: Ctx, chain: Chain, gate: Gate): Promise<Reading | undefined> {
  const shown: string[] = []
  let { position: stored } = gate
  let from = stored
  let isFinal = true
  for (;;) {
    const { outgoingTransfers, position, isEnd } = await chain.outgoingTransfersAfter(from ?? undefined, PAGE)
    // A page can be empty and still move on.
    if (position === from) return { stored, shown }
    // What may still change is read again next time, so the position waits before it.
    isFinal &&= outgoingTransfers.every(({ final }) => final)
    const next = isFinal ? position : stored
    if (!(await writePage(ctx, gate, outgoingTransfers, { stored, next }))) return undefined
    shown.push(...outgoingTransfers.map(({ reference }) => reference))
    stored = next
    from = position
    if (isEnd === true) return { stored, shown }
  }
}

/** False when the gate is no longer where we left it: what we read may be older than what is written. */
const writePage = (
  ctx: Ctx,
  gate: Gate,
  outgoingTransfers: readonly ObservedOutgoingTransfer[],
  { stored, next }: { stored: string | null; next: string | null },
): Promise<boolean> =>
  transact(ctx.db, async (tx) => {
    if (!isWhereWeLeftIt(await findGate(tx, gate.network, 'alone'), gate, stored)) return false
    await saveOutgoingTransfers(tx, gate.network, outgoingTransfers, ctx.clock.now())
    if (next !== stored) await saveGate(tx, gate.network, { position: next })
    return true
  })

const isWhereWeLeftIt = (now: Gate | undefined, gate: Gate, stored: string | null): now is Gate =>
  now?.isCurrentEpoch === true && now.database_epoch === gate.database_epoch && now.position === stored
