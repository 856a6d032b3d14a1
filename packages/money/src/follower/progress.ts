import type { Needs } from '@market/core/context'
import type { Chain, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { assert } from '@market/kernel/assert'
import { findMarks, type MarkedTransfer } from '../payouts/index.ts'
import { type Followed, findFollowed, startFollowing } from './store.ts'

export type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/** How far a network was read; where it never was, a place to start. */
export async function followedBy(ctx: Ctx, chain: Chain): Promise<Followed> {
  const { network } = chain
  const known = await findFollowed(ctx.db, network)
  if (known !== undefined) return known
  await startFollowing(ctx.db, network, await chain.startingBlock(), ctx.clock.now())
  const started = await findFollowed(ctx.db, network)
  assert(started !== undefined, `${network} is followed`)
  return started
}

/** Which payouts the transfers are. The chain is asked only about those that this database does not know. */
export async function withMarks(
  { db }: Ctx,
  chain: Chain,
  outgoing: readonly ObservedOutgoingTransfer[],
): Promise<MarkedTransfer[]> {
  const unmarked = outgoing.filter(({ mark }) => mark === undefined).map(({ reference }) => reference)
  const known = await findMarks(db, chain.network, unmarked)
  return Promise.all(
    outgoing.map(async (transfer) => {
      const mark =
        transfer.mark ?? known.get(transfer.reference) ?? (await chain.markOf?.(transfer.reference))
      assert(mark !== undefined, `${chain.network} says whose payment ${transfer.reference} is`)
      return { ...transfer, ...mark }
    }),
  )
}
