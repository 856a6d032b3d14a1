import type { Settlement, SettlementOutcome } from '@market/core/ports/facilitator'
import { smaller } from '../bigints.ts'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import type { Authorization } from './authorization.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity, readBlock, readLogs, readReceipt, word } from './parse-rpc.ts'
import { usedCall } from './reject-authorization.ts'
import { callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, blocksPerRequest, type EvmSettings } from './settings.ts'
import { AUTHORIZATION_USED_TOPIC, amountByAuthorization, topicOf } from './transfers.ts'

/** How many nodes must agree that a payment is void. All of them when there are fewer. */
const MIN_AGREEING_NODES = 2

const UNKNOWN = { kind: 'unknown' } as const

/** Whether this transaction is on the chain and paid the whole amount to the treasury. */
const isPaidBy = async (
  { chainId, usdc }: EvmSettings,
  node: Node,
  reference: string,
  { from, to, nonce, value }: Authorization,
): Promise<boolean> => {
  const [response] = await callAll(node, chainId, [['eth_getTransactionReceipt', reference]])
  const receipt = readReceipt(response)
  if (receipt?.block === undefined || !receipt.succeeded) return false
  const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
  // The block of this receipt was replaced by a reorganization.
  if (readBlock(canonical)?.hash !== receipt.block.hash) return false
  const signed = { from: addressKey(from), to: addressKey(to), nonce }
  return amountByAuthorization(receipt.logs, addressKey(usdc), signed) === value
}

/** The transaction that used the authorization since `since`. Another account may have executed it before us. */
const findAuthorizationUse = async (
  settings: EvmSettings,
  node: Node,
  { from, nonce }: Authorization,
  since: bigint,
): Promise<string | undefined> => {
  const { chainId, usdc } = settings
  const topics = [AUTHORIZATION_USED_TOPIC, topicOf(from), nonce]
  const [response] = await callAll(node, chainId, [['eth_blockNumber']])
  const head = quantity(response)
  const blocks = blocksPerRequest(settings)
  for (let first = since; first <= head; first += blocks) {
    const [fromBlock, toBlock] = [first, smaller(first + blocks - 1n, head)].map(
      (height) => `0x${height.toString(16)}`,
    )
    const [logs] = await callAll(node, chainId, [
      ['eth_getLogs', { address: usdc, topics, fromBlock, toBlock }],
    ])
    const [use] = readLogs(logs)
    if (use !== undefined) return use.transaction
  }
  return undefined
}

/**
 * Whether another transaction used the nonce, as after a restore of the database. `mined` was read before: a transaction that it
 * counts has a receipt by now.
 */
const isLost = async (
  { chainId, usdc }: EvmSettings,
  node: Node,
  { reference, nonce }: Settlement,
  { authorization, mined }: { readonly authorization: Authorization; readonly mined: bigint },
): Promise<boolean> => {
  if (nonce === null || mined <= nonce) return false
  const [receipt, used] = await callAll(node, chainId, [
    ['eth_getTransactionReceipt', reference],
    usedCall(usdc, authorization, 'latest'),
  ])
  return readReceipt(receipt) === undefined && word(used) === 0n
}

/** Queries one node once. */
const observeVia = async (
  settings: EvmSettings,
  node: Node,
  settlement: Settlement,
  authorization: Authorization,
): Promise<SettlementOutcome> => {
  const { chainId, usdc, finalityTag } = settings
  const { reference, gasAccount, signedAtHeight } = settlement
  if (await isPaidBy(settings, node, reference, authorization)) return { kind: 'arrived', reference }
  const [used, finalResponse, count] = await callEach(node, chainId, [
    usedCall(usdc, authorization, 'latest'),
    blockAt(finalityTag),
    ...(gasAccount === null ? [] : [['eth_getTransactionCount', gasAccount, 'latest'] as const]),
  ])
  const isUsed = word(resultOf(used)) !== 0n
  const other = isUsed ? await findAuthorizationUse(settings, node, authorization, signedAtHeight) : undefined
  if (other !== undefined && (await isPaidBy(settings, node, other, authorization)))
    return { kind: 'arrived', reference: other }

  const final = readFinalBlock(finalResponse)
  if (final === undefined) return UNKNOWN
  // Read at exactly this height, because the newest final block may have changed since.
  const [spent] = await callAll(node, chainId, [
    usedCall(usdc, authorization, `0x${final.height.toString(16)}`),
  ])
  const isSpent = word(spent) !== 0n
  // Used after the query above. The next observation finds the transaction.
  if (isSpent && !isUsed) return UNKNOWN
  if (isSpent) return { kind: 'void', reason: 'the authorization was cancelled or used for something else' }
  const isExpired = BigInt(final.at.getTime() / 1_000) >= authorization.validBefore
  if (isExpired) return { kind: 'void', reason: 'the authorization expired' }
  const mined = count === undefined ? 0n : quantity(resultOf(count))
  return (await isLost(settings, node, settlement, { authorization, mined }))
    ? { ...UNKNOWN, isLost: true }
    : UNKNOWN
}

/**
 * The outcome of a payment. `void` lets the buyer pay again, so it requires a final block, no contradicting node, and
 * agreement of two nodes if there are two.
 */
export const observeSettlement = async (
  settings: EvmSettings,
  nodes: NodePool,
  settlement: Settlement,
  authorization: Authorization,
): Promise<SettlementOutcome> => {
  const observe = (node: Node) => observeVia(settings, node, settlement, authorization)
  // A lagging node may not have a new payment yet, so the other nodes are queried too.
  const first = await nodes.query(observe, ({ kind }) => kind === 'arrived')
  if (first.kind !== 'void') return first

  const results = await Promise.allSettled(await nodes.queryHealthy(observe))
  const outcomes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const arrived = outcomes.find(({ kind }) => kind === 'arrived')
  if (arrived !== undefined) return arrived
  const isAgreed = outcomes.every(({ kind }) => kind === 'void')
  return isAgreed && outcomes.length >= Math.min(MIN_AGREEING_NODES, results.length) ? first : UNKNOWN
}
