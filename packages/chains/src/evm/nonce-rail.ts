import type { NamedTransaction, NonceRail } from '@market/core/ports/transactions'
import { unavailable } from '@market/kernel/api-error'
import { concat, type Hex, stringToHex } from 'viem'
import { smaller } from '../bigints.ts'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { observeNonce } from './observe-nonce.ts'
import { readLogs, readTransaction } from './parse-rpc.ts'
import { readCounts } from './read-counts.ts'
import { callAll, callInBatches } from './rpc.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, blocksPerRequest, type EvmSettings } from './settings.ts'
import { topicOf } from './transfers.ts'

/** Between the arguments of a call and the id of its action, so that no argument can become part of the id. */
const SEPARATOR = '0x00'

/** Appends the id of an action to a call. Contracts ignore what follows the arguments. */
export const withActionId = (data: Hex, actionId: string): Hex =>
  concat([data, SEPARATOR, stringToHex(actionId)])

const ACTION_ID = /\0([a-z]+_[0-9]+_[0-9a-z]{17}:[a-z]+)$/

const actionIdIn = (input: Hex): string | null =>
  ACTION_ID.exec(Buffer.from(input.slice(2), 'hex').toString('latin1'))?.[1] ?? null

interface Page {
  readonly account: string
  /** Whose logs show what the account did: the USDC contract and the vaults. */
  readonly contracts: readonly string[]
  readonly from: bigint
  readonly to: bigint
}

const hex = (height: bigint): Hex => `0x${height.toString(16)}`

/** The transactions with a log of the account: an approval, a transfer of its own, a deposit or redemption of shares. */
const sentVia = async (
  { chainId }: EvmSettings,
  node: Node,
  { account, contracts, from, to }: Page,
): Promise<NamedTransaction[]> => {
  const [logs] = await callAll(node, chainId, [
    [
      'eth_getLogs',
      { fromBlock: hex(from), toBlock: hex(to), address: contracts, topics: [null, topicOf(account)] },
    ],
  ])
  const references = [...new Set(readLogs(logs).map(({ transaction }) => transaction))]
  const found = await callInBatches(
    node,
    chainId,
    references.map((reference) => ['eth_getTransactionByHash', reference]),
  )
  return references.flatMap((reference, index) => {
    const transaction = readTransaction(found[index] ?? null)
    if (transaction === undefined)
      throw unavailable(`${node.name} shows a log of ${reference}, but not the transaction`)
    if (addressKey(transaction.from) !== account) return []
    return [{ reference, nonce: transaction.nonce, actionId: actionIdIn(transaction.input) }]
  })
}

const asText = (sent: readonly NamedTransaction[]): string =>
  sent
    .map(({ reference, nonce, actionId }) => `${nonce} ${reference} ${actionId}`)
    .toSorted()
    .join('\n')

/** What all providers that respond show, at least as many as required. One that leaves out a transaction would hide a lost one. */
const agreedPage = async (
  settings: EvmSettings,
  nodes: NodePool,
  page: Page,
): Promise<readonly NamedTransaction[]> => {
  const { responses, failures } = await nodes.queryProviders(
    (node) => sentVia(settings, node, page),
    settings.minProviders,
  )
  const shown = responses.map(({ response }) => response)
  const [first] = shown
  if (first === undefined || shown.length < settings.minProviders)
    throw unavailable(
      `Too few providers returned the transactions of ${page.account}. Try again later.`,
      new AggregateError(failures),
    )
  // fix: sent-agreed
  if (shown.some((sent) => asText(sent) !== asText(first)))
    throw unavailable(`Providers contradict each other about the transactions of ${page.account}`)
  return first
}

/** Sends from an account that does one thing at a time. */
export const nonceRail = (
  settings: EvmSettings,
  nodes: NodePool,
  contracts: readonly string[],
): NonceRail => ({
  lock: 'nonce',
  network: settings.network,
  send: ({ bytes }) => sendBytes(nodes, settings.chainId, bytes),
  observe: (signed) => observeNonce(settings, nodes, signed),
  counts: (account) => readCounts(settings, nodes, account),
  async sentBetween(account, from, to) {
    const sent: NamedTransaction[] = []
    const size = blocksPerRequest(settings)
    for (let start = from; start <= to; start += size) {
      const page = {
        account: addressKey(account),
        contracts,
        from: start,
        to: smaller(start + size - 1n, to),
      }
      sent.push(...(await agreedPage(settings, nodes, page)))
    }
    return sent
  },
})
