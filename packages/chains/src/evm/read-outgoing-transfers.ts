import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc as money } from '@market/kernel/money'
import type { Node } from '../nodes/node-pool.ts'
import type { LogPosition } from './log-position.ts'
import { readTransaction, type Transaction } from './parse-rpc.ts'
import { type LogScan, readLogPage, type TransactionMoves } from './read-log-page.ts'
import { callInBatches } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'
import { payoutIdIn } from './sign-transfer.ts'
import { type SentTransfer, sentTransfers, solePayee, TRANSFER_TOPIC, topicOf, total } from './transfers.ts'

const outgoingScan = (settings: EvmSettings): LogScan<SentTransfer> => {
  const [asset, treasury] = [addressKey(settings.usdc), addressKey(settings.treasury)]
  return {
    topics: [TRANSFER_TOPIC, topicOf(treasury)],
    // Includes unconfirmed blocks, because a payout that is in any block must not be paid again.
    upTo: ({ head }) => head,
    pick: (logs) => sentTransfers(logs, asset, treasury),
  }
}

const transactionsOf = async (
  { chainId }: EvmSettings,
  node: Node,
  references: readonly string[],
): Promise<readonly Transaction[]> => {
  const calls = references.map((reference) => ['eth_getTransactionByHash', reference] as const)
  return (await callInBatches(node, chainId, calls)).map((result) => {
    const transaction = readTransaction(result)
    if (transaction === undefined) throw new Error('the node no longer has the transaction of a log')
    return transaction
  })
}

const outgoingTransferOf = (
  { usdc, treasury }: EvmSettings,
  { moves, ...rest }: TransactionMoves<SentTransfer>,
  { from, to, nonce, input }: Transaction,
): ObservedOutgoingTransfer => {
  const isOurs = from === addressKey(treasury)
  return {
    ...rest,
    // Accounts with an allowance can also move the treasury's USDC, and they can append any data to their call.
    payoutId: isOurs && to === addressKey(usdc) ? payoutIdIn(input) : null,
    payee: solePayee(moves) ?? null,
    amount: money(total(moves)),
    nonce: isOurs ? nonce : null,
  }
}

/** Reads a page of transfers out of the treasury from one node. */
export const readOutgoingTransfers = async (
  settings: EvmSettings,
  node: Node,
  from: LogPosition | undefined,
  limit: number,
): Promise<{
  readonly outgoingTransfers: readonly ObservedOutgoingTransfer[]
  readonly position: LogPosition | undefined
  readonly isEnd: boolean
}> => {
  const {
    transactions: moved,
    position,
    isEnd,
  } = await readLogPage(settings, node, outgoingScan(settings), from, limit)
  const references = moved.map(({ reference }) => reference)
  const transactions = await transactionsOf(settings, node, references)
  const outgoingTransfers = moved.flatMap((one, index) => {
    const transaction = transactions[index]
    return transaction === undefined ? [] : [outgoingTransferOf(settings, one, transaction)]
  })
  return { outgoingTransfers, position, isEnd }
}
