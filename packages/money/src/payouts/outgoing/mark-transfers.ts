import type { Needs } from '@market/core/context'
import type { Chain, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { assert } from '@market/kernel/assert'
import type { MarkedTransfer } from './outgoing-transfer.ts'
import { findMarks } from './store.ts'

/** Says which payouts the transfers are. The chain is asked only about those that this database does not know. */
export async function markTransfers(
  { db }: Needs<'db'>,
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
