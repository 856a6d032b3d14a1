import type { Needs } from '@market/core/context'
import type { Chain, Observation, SeenTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { DAY, EVER, earlier, FOREVER, later, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { counted, countWhole, inSuspense, postNew } from './move-money.ts'
import { lockTransfer, saveTransfer, takeToLookAt } from './store.ts'
import { arrival, type Transfer, transferOf, undoing } from './transfer.ts'

const LOOK_EVERY_MS = 5 * SECOND
const BATCH = 50
/** So many of them are money that nobody has claimed, when there is as much. */
const UNCLAIMED = 10

/** A transfer that a reorganisation dropped is usually mined again; one that is missed for so long is gone. */
const MISSING_FOR_MS = 10 * MINUTE

/** Beyond any finality there is: for the few looks that say a transfer is there and not whether it is final. */
const SURELY_FINAL_MS = DAY

const ALWAYS = { notBefore: EVER, notAfter: FOREVER }

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/**
 * Whoever acted on a payment is told, in the same transaction, when the chain takes it back: before the money leaves
 * the books, so what was moved on from escrow can be moved back.
 */
export type OnGone = (tx: Tx, transfer: Transfer) => Promise<void>

/**
 * Observations again at what was seen until the chain can no longer undo it, and undoes it here when the chain did. One
 * transfer or chain in trouble does not keep the others waiting; the trouble is thrown at the end.
 */
export async function recheckTransfers(ctx: Ctx, onGone: OnGone): Promise<number> {
  const now = ctx.clock.now()
  const transfers = await takeBatch(ctx, { now, before: earlier(now, LOOK_EVERY_MS) })
  const failures: unknown[] = []
  const byNetwork = Map.groupBy(transfers, ({ network }) => network)
  await Promise.all(
    [...byNetwork].map(async ([network, ofNetwork]) => {
      const chain = ctx.chains[network]
      if (chain !== undefined) failures.push(...(await recheckAll(ctx, chain, ofNetwork, onGone)))
    }),
  )
  if (failures.length > 0) throw new AggregateError(failures, 'Some transfers could not be looked at')
  return transfers.length
}

/**
 * Anybody can send any number of crumbs that nobody claims: they may not keep a payment from becoming final, and what is
 * paid may not keep them from it either. What one side leaves free is the other's; claimed ones are looked at first.
 */
async function takeBatch({ db }: Ctx, at: { now: Date; before: Date }): Promise<Transfer[]> {
  const unclaimed = await takeToLookAt(db, 'unclaimed', at, UNCLAIMED)
  const claimed = await takeToLookAt(db, 'claimed', at, BATCH - unclaimed.length)
  const free = unclaimed.length < UNCLAIMED ? 0 : BATCH - unclaimed.length - claimed.length
  const more = free === 0 ? [] : await takeToLookAt(db, 'unclaimed', at, free)
  return [...claimed, ...unclaimed, ...more]
}

async function recheckAll(
  ctx: Ctx,
  chain: Chain,
  transfers: readonly Transfer[],
  onGone: OnGone,
): Promise<unknown[]> {
  const failures: unknown[] = []
  for (const transfer of transfers) {
    let look: Observation
    try {
      look = await lookAgain(chain, transfer)
    } catch (error) {
      // The chain is away: asking for the rest would be waiting for the same.
      return [...failures, error]
    }
    await transact(ctx.db, (tx) => judge(ctx, tx, transfer, look, onGone)).catch((error: unknown) =>
      failures.push(error),
    )
  }
  return failures
}

/** By its payer when it has one: where several paid at once, only their own part was counted. */
const lookAgain = (chain: Chain, { reference, payer }: Transfer): Promise<Observation> =>
  chain.findTransfer({
    reference,
    atLeast: usdc(1n),
    ...(payer === null ? {} : { payers: [payer] }),
    ...ALWAYS,
  })

async function judge(ctx: Ctx, tx: Tx, asked: Transfer, look: Observation, onGone: OnGone): Promise<void> {
  const known = await lockTransfer(tx, asked.network, asked.reference)
  if (known === undefined || known.state !== 'seen') return
  // Claimed or written down anew since: the look was at something else.
  if (known.purpose !== asked.purpose || known.arrivedAt.getTime() !== asked.arrivedAt.getTime()) return
  const now = ctx.clock.now()
  if (known.purpose === '' && look.kind === 'ok') return seenUnclaimed(ctx, tx, known, look.transfer)
  if (isThere(look, known)) return saveTransfer(tx, seenAgain(known, look, now), now)
  const missingSince = known.missingSince ?? now
  if (now < later(missingSince, MISSING_FOR_MS)) return saveTransfer(tx, { ...known, missingSince }, now)
  const { micros } = await counted(tx, known)
  await saveTransfer(tx, { ...known, state: 'gone', missingSince }, now)
  if (known.purpose !== '') await onGone(tx, known)
  await postNew(ctx, tx, undoing(known, await inSuspense(tx, known)))
  if (look.kind === 'ok')
    await writeDownAnew(ctx, tx, known.network, { ...look.transfer, amount: usdc(micros) })
}

/**
 * Anything else, a failure too, may be said of a block that does not stay. That several paid is said only of a
 * transaction that is on the chain.
 */
const isThere = (look: Observation, { amount }: Transfer): boolean =>
  look.kind === 'ok'
    ? look.transfer.amount === amount
    : look.kind === 'rejected' && look.why === 'ambiguous_payer'

function seenAgain(known: Transfer, look: Observation, now: Date): Transfer {
  if (look.kind === 'ok') {
    const { block, at, final } = look.transfer
    return { ...known, block, happenedAt: at, missingSince: null, state: final ? 'final' : 'seen' }
  }
  const isOld = known.missingSince === null && now > later(known.happenedAt, SURELY_FINAL_MS)
  return { ...known, missingSince: null, state: isOld && known.purpose === '' ? 'final' : 'seen' }
}

/** Nobody acted on it, so a transfer mined again with another amount is just counted anew. */
async function seenUnclaimed(ctx: Ctx, tx: Tx, known: Transfer, seen: SeenTransfer): Promise<void> {
  if (known.amount !== seen.amount) await countWhole(ctx, tx, known, seen.amount)
  await saveTransfer(tx, transferOf(known.network, seen, known.arrivedAt), ctx.clock.now())
}

/**
 * Mined again with another amount: what was claimed is gone, and other money came. How much in all is counted by the
 * watcher or by the next look, which asks for no payer.
 */
async function writeDownAnew(ctx: Ctx, tx: Tx, network: Network, seen: SeenTransfer): Promise<void> {
  const now = ctx.clock.now()
  const transfer: Transfer = { ...transferOf(network, seen, now), payer: null, state: 'seen' }
  await saveTransfer(tx, transfer, now)
  await postNew(ctx, tx, arrival(transfer))
}
