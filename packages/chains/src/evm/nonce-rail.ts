import type { NamedTransaction, NonceRail } from '@market/core/ports/transactions'
import { unavailable } from '@market/kernel/api-error'
import { concat, type Hex, stringToHex } from 'viem'
import { smaller } from '../bigints.ts'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { observePayout } from './observe-payout.ts'
import { readLogs, readTransaction } from './parse-rpc.ts'
import { readCounts } from './read-counts.ts'
import { callAll, callInBatches } from './rpc.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, blocksPerRequest, type EvmSettings } from './settings.ts'
import { topicOf } from './transfers.ts'

/** Appends the id of an action to a call. Contracts ignore what follows the arguments. */
export const withActionId = (data: Hex, actionId: string): Hex => concat([data, stringToHex(actionId)])

const ACTION_ID = /[a-z]+_[0-9]+_[0-9a-z]{17}:[a-z]+$/

const actionIdIn = (input: Hex): string | null =>
  ACTION_ID.exec(Buffer.from(input.slice(2), 'hex').toString('latin1'))?.[0] ?? null

/** The transactions with a log of the account: an approval, a transfer of its own, a redemption of its shares. */
const sentVia = async (
  settings: EvmSettings,
  node: Node,
  account: string,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<NamedTransaction[]> => {
  const { chainId } = settings
  const references = new Set<string>()
  for (let start = from; start <= to; start += blocksPerRequest(settings)) {
    const last = smaller(start + blocksPerRequest(settings) - 1n, to)
    const range = { fromBlock: `0x${start.toString(16)}`, toBlock: `0x${last.toString(16)}` }
    const [logs] = await callAll(node, chainId, [
      ['eth_getLogs', { ...range, topics: [null, topicOf(account)] }],
    ])
    for (const { transaction } of readLogs(logs)) references.add(transaction)
  }
  const found = await callInBatches(
    node,
    chainId,
    [...references].map((reference) => ['eth_getTransactionByHash', reference]),
  )
  return [...references].flatMap((reference, index) => {
    const transaction = readTransaction(found[index] ?? null)
    if (transaction === undefined || addressKey(transaction.from) !== account) return []
    return [{ reference, nonce: transaction.nonce, actionId: actionIdIn(transaction.input) }]
  })
}

/** Sends from an account that does one thing at a time. */
export const nonceRail = (settings: EvmSettings, nodes: NodePool): NonceRail => ({
  lock: 'nonce',
  network: settings.network,
  send: ({ bytes }) => sendBytes(nodes, settings.chainId, bytes),
  observe: (signed) => observePayout(settings, nodes, signed),
  counts: (account) => readCounts(settings, nodes, account),
  async sentBetween(account, from, to) {
    const { responses, failures } = await nodes.queryProviders(
      (node) => sentVia(settings, node, addressKey(account), { from, to }),
      settings.minProviders,
    )
    if (responses.length < settings.minProviders)
      throw unavailable(
        `Too few providers returned the transactions of ${account}. Try again later.`,
        new AggregateError(failures),
      )
    return [
      ...new Map(
        responses.flatMap(({ response }) => response.map((one) => [one.reference, one] as const)),
      ).values(),
    ]
  },
})
