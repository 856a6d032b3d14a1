import type { Chain } from '@market/core/ports/chain'
import { transact } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { forgetDepths, markReplaced, recordTransfers } from '../payments/index.ts'
import { beginReading, completeReading, deleteUnfinal, saveOutgoing } from '../payouts/index.ts'
import { type Ctx, progressOf } from './progress.ts'
import { movePosition, saveRead } from './store.ts'

/** The limit of one run, so that a long backlog does not delay other work. */
const MAX_PAGES = 50
const PAGE = 100

/**
 * Records what moved into a treasury and out of it up to the newest block. A reorganization can still replace these
 * blocks. Several workers may run it at once: one of them moves the position.
 */
export async function readNewBlocks(ctx: Ctx, network: Network, limit = PAGE): Promise<void> {
  const chain = ctx.chains[network]
  if (chain === undefined || !hasNewBlocks(chain)) return
  const reading = await beginReading(ctx, chain)
  if (await readToEnd(ctx, chain, limit)) await completeReading(ctx, reading)
}

type ChainWithNewBlocks = Chain & Required<Pick<Chain, 'movementsAfter'>>

const hasNewBlocks = (chain: Chain): chain is ChainWithNewBlocks => chain.movementsAfter !== undefined

/** False when a node is behind, when another worker has read further, or when there is more. */
async function readToEnd(ctx: Ctx, chain: ChainWithNewBlocks, limit: number): Promise<boolean> {
  const { network } = chain
  const { final, position } = await progressOf(ctx, chain)
  let from = position
  for (let page = 0; page < MAX_PAGES; page++) {
    const at = ctx.clock.now()
    const read = await chain.movementsAfter(final, from, limit)
    if (read === undefined) return false
    if (read.position !== from || read.isReplaced) {
      const { position: to, height } = read
      const isNext = await transact(ctx.db, async (tx) => {
        // First, because it locks the row: a page of a slower worker may be older than what is stored.
        // fix: position-with-transfers
        if (!(await movePosition(tx, network, { from, to, height }))) return false
        if (read.isReplaced) {
          await deleteUnfinal(tx, network)
          // fix: replaced-block-forgotten
          await forgetDepths(tx, network, final.height)
          // fix: replaced-payment-is-missing
          await markReplaced(tx, network, { after: final.height, read: read.incoming, at })
        }
        await recordTransfers(ctx, tx, network, read.incoming)
        await saveOutgoing(tx, network, read.outgoing, { isFinal: false, at })
        return true
      })
      if (!isNext) return false
      from = to
    }
    if (read.isEnd) await saveRead(ctx.db, network, at)
    if (read.isEnd) return true
  }
  return false
}
