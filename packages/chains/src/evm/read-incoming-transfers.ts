import type { IncomingTransfer } from '@market/core/ports/chain'
import { usdc as money } from '@market/kernel/money'
import { larger, smaller } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import type { LogPosition } from './log-position.ts'
import { type ChainHead, type LogScan, readLogPage } from './read-log-page.ts'
import { addressKey, type EvmSettings, ownKeys } from './settings.ts'
import { type ReceivedTransfer, receivedTransfers, TRANSFER_TOPIC, topicOf } from './transfers.ts'

/** The highest block in which a transfer of any size is confirmed. */
const confirmedHeight = ({ confirmations }: EvmSettings, { head, finalHeight }: ChainHead): bigint => {
  const depths = confirmations.map(({ blocks }) =>
    blocks === 'final' ? finalHeight : head - BigInt(blocks) + 1n,
  )
  // A final block is confirmed even when a rule requires more blocks.
  return larger(depths.reduce(smaller, head), finalHeight)
}

const incomingScan = (settings: EvmSettings): LogScan<ReceivedTransfer> => {
  const [asset, treasury, own] = [addressKey(settings.usdc), addressKey(settings.treasury), ownKeys(settings)]
  return {
    topics: [TRANSFER_TOPIC, null, topicOf(treasury)],
    upTo: (chainHead) => confirmedHeight(settings, chainHead),
    pick: (logs) => receivedTransfers(logs, asset, treasury, own).external,
  }
}

/** Reads a page of transfers into the treasury from one node. */
export const readIncomingTransfers = async (
  settings: EvmSettings,
  node: Node,
  from: LogPosition | undefined,
  limit: number,
): Promise<{
  readonly transfers: readonly IncomingTransfer[]
  readonly position: LogPosition | undefined
}> => {
  const { transactions, position } = await readLogPage(settings, node, incomingScan(settings), from, limit)
  const transfers = transactions.flatMap(({ moves, ...rest }) =>
    moves.map(
      ({ index, amount, payer }): IncomingTransfer => ({
        ...rest,
        index,
        amount: money(amount),
        payer,
        // Not part of the logs. `findTransfer` reads the transaction.
        attachedData: null,
      }),
    ),
  )
  return { transfers, position }
}
