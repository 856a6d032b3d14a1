import type { IncomingTransfer } from '@market/core/ports/chain'
import { usdc as money } from '@market/kernel/money'
import type { Node } from '../nodes/node-pool.ts'
import { least, most, readPage, type View, type Walk } from './read-page.ts'
import { addressKey, type EvmSettings, ownKeys } from './settings.ts'
import { type Arrival, arrivalsIn, onePayer, TRANSFER_TOPIC, topicOf, total } from './transfers.ts'
import type { WatchPosition } from './watch-position.ts'

/** The highest block in which a transfer of any size is confirmed. */
const confirmedHeight = ({ confirmations }: EvmSettings, { head, finalHeight }: View): bigint => {
  const depths = confirmations.map(({ blocks }) =>
    blocks === 'final' ? finalHeight : head - BigInt(blocks) + 1n,
  )
  // What is final is confirmed, however many blocks a rule asks for.
  return most(depths.reduce(least, head), finalHeight)
}

const arrivals = (settings: EvmSettings): Walk<Arrival> => {
  const [asset, treasury, own] = [addressKey(settings.usdc), addressKey(settings.treasury), ownKeys(settings)]
  return {
    topics: [TRANSFER_TOPIC, null, topicOf(treasury)],
    upTo: (view) => confirmedHeight(settings, view),
    pick: (logs) => arrivalsIn(logs, asset, treasury, own).foreign,
  }
}

/** A page of what came into the treasury, through one node. */
export const watchTreasury = async (
  settings: EvmSettings,
  node: Node,
  from: WatchPosition | undefined,
  limit: number,
): Promise<{
  readonly transfers: readonly IncomingTransfer[]
  readonly position: WatchPosition | undefined
}> => {
  const { moved, position } = await readPage(settings, node, arrivals(settings), from, limit)
  const transfers = moved.map(
    ({ moves, ...seen }): IncomingTransfer => ({
      ...seen,
      amount: money(total(moves)),
      payer: onePayer(moves) ?? null,
      // The logs do not tell; whoever claims the transfer asks for the transaction itself.
      attachedData: null,
    }),
  )
  return { transfers, position }
}
