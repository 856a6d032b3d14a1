import type { Needs } from '@market/core/context'
import type { SeenTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { countWhole, postNew } from './move-money.ts'
import { findPosition, insertTransfer, lockTransfer, movePosition, saveTransfer } from './store.ts'
import { arrival, type Transfer, transferOf } from './transfer.ts'

/** How much one run reads, so that a long backlog leaves room for other work. */
const PAGES = 50
const PAGE = 100

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/**
 * Follows a treasury and writes down every transfer nobody has claimed: late, unmatched or mistaken money waits in
 * suspense, where it is counted and can still be claimed or given back. Tells how many it found.
 */
export async function watchTreasury(ctx: Ctx, network: Network, pageSize = PAGE): Promise<number> {
  const chain = ctx.chains[network]
  if (chain === undefined) return 0
  let found = 0
  let from = await findPosition(ctx.db, network)
  for (let page = 0; page < PAGES; page++) {
    const { transfers, position } = await chain.transfersAfter(from, pageSize)
    // A page can be empty and still move on; the end is where the position stays.
    if (position === from) break
    // One transaction each: together they would hold the accounts that claims of their neighbours wait for.
    for (const seen of transfers)
      if (await transact(ctx.db, (tx) => writeDown(ctx, tx, network, seen))) found++
    // Written down first: whoever stops here reads the page again, and finds everything known.
    if (!(await movePosition(ctx.db, network, from, position, ctx.clock.now()))) break
    from = position
  }
  return found
}

/** True when it is new here. */
async function writeDown(ctx: Ctx, tx: Tx, network: Network, seen: SeenTransfer): Promise<boolean> {
  const now = ctx.clock.now()
  const transfer = transferOf(network, seen, now)
  if (await insertTransfer(tx, transfer, now)) {
    await postNew(ctx, tx, arrival(transfer))
    return true
  }
  const known = await lockTransfer(tx, network, seen.reference)
  assert(known !== undefined, 'a transfer that was in the way is there')
  if (known.state !== 'gone') {
    await compare(ctx, tx, known, seen)
    return false
  }
  await saveTransfer(tx, transfer, now)
  await postNew(ctx, tx, arrival(transfer))
  return true
}

/** What was claimed before it came by here, or comes by again after a reorganisation. */
async function compare(ctx: Ctx, tx: Tx, known: Transfer, seen: SeenTransfer): Promise<void> {
  if (known.amount !== seen.amount) await countWhole(ctx, tx, known, seen.amount)
  // Of a claimed part this look does not tell whether it is still the same: the re-check does.
  if (known.purpose !== '' && known.amount !== seen.amount) return
  const state = seen.final ? 'final' : known.state
  const { amount, block, at: happenedAt } = seen
  const isSame = known.amount === amount && known.block.hash === block.hash && known.state === state
  if (isSame) return
  await saveTransfer(tx, { ...known, amount, block, happenedAt, state, missingSince: null }, ctx.clock.now())
}
