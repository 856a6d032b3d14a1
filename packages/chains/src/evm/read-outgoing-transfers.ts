import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc as money } from '@market/kernel/money'
import type { Node } from '../nodes/node-pool.ts'
import { readTransaction, type Transaction } from './read-answer.ts'
import { type Moved, readPage, type Walk } from './read-page.ts'
import { callInParts } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'
import { payoutIdIn } from './sign-transfer.ts'
import { type Departure, departuresIn, onePayee, TRANSFER_TOPIC, topicOf, total } from './transfers.ts'
import type { WatchPosition } from './watch-position.ts'

const departures = (settings: EvmSettings): Walk<Departure> => {
  const [asset, treasury] = [addressKey(settings.usdc), addressKey(settings.treasury)]
  return {
    topics: [TRANSFER_TOPIC, topicOf(treasury)],
    // Not only what is confirmed: whatever is in a block must not be paid again.
    upTo: ({ head }) => head,
    pick: (logs) => departuresIn(logs, asset, treasury),
  }
}

const transactionsOf = async (
  { chainId }: EvmSettings,
  node: Node,
  references: readonly string[],
): Promise<readonly Transaction[]> => {
  const calls = references.map((reference) => ['eth_getTransactionByHash', reference] as const)
  return (await callInParts(node, chainId, calls)).map((answer) => {
    const transaction = readTransaction(answer)
    if (transaction === undefined) throw new Error('the node no longer knows the transaction of a log')
    return transaction
  })
}

const outgoingTransferOf = (
  { usdc, treasury }: EvmSettings,
  { moves, ...seen }: Moved<Departure>,
  { from, to, nonce, input }: Transaction,
): ObservedOutgoingTransfer => {
  const isOurs = from === addressKey(treasury)
  return {
    ...seen,
    // Others can move the treasury's money where it allowed them to, and write behind their call what they like.
    payoutId: isOurs && to === addressKey(usdc) ? payoutIdIn(input) : null,
    payee: onePayee(moves) ?? null,
    amount: money(total(moves)),
    nonce: isOurs ? nonce : null,
  }
}

/** A page of what left the treasury, through one node. */
export const readOutgoingTransfers = async (
  settings: EvmSettings,
  node: Node,
  from: WatchPosition | undefined,
  limit: number,
): Promise<{
  readonly outgoingTransfers: readonly ObservedOutgoingTransfer[]
  readonly position: WatchPosition | undefined
  readonly isEnd: boolean
}> => {
  const { moved, position, isEnd } = await readPage(settings, node, departures(settings), from, limit)
  const references = moved.map(({ reference }) => reference)
  const transactions = await transactionsOf(settings, node, references)
  const outgoingTransfers = moved.flatMap((one, index) => {
    const transaction = transactions[index]
    return transaction === undefined ? [] : [outgoingTransferOf(settings, one, transaction)]
  })
  return { outgoingTransfers, position, isEnd }
}
