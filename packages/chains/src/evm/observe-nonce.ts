import {
  NONCE_USED_BY_ANOTHER,
  type PayoutOutcome,
  type SignedTransfer,
} from '@market/core/ports/payout-sender'
import { unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity, readBlock, readReceipt } from './parse-rpc.ts'
import { type Call, callAll, callEach, type RpcResponse, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

const MAX_RECEIPTS_PER_REQUEST = 20

type NonceUsed = { readonly kind: 'nonce_used' }

/** The receipts of all signed transactions, in the order of `references`. */
const receiptsOf = async (
  node: Node,
  chainId: number,
  references: readonly string[],
): Promise<RpcResponse[]> => {
  const responses: RpcResponse[] = []
  for (let start = 0; start < references.length; start += MAX_RECEIPTS_PER_REQUEST) {
    const batch = references.slice(start, start + MAX_RECEIPTS_PER_REQUEST)
    const calls = batch.map((reference): Call => ['eth_getTransactionReceipt', reference])
    responses.push(...(await callEach(node, chainId, calls)))
  }
  return responses
}

const observeVia = async (
  settings: EvmSettings,
  node: Node,
  references: readonly string[],
  nonce: bigint,
): Promise<PayoutOutcome | NonceUsed> => {
  const { chainId, finalityTag, treasury } = settings
  const [finalResponse, countResponse] = await callEach(node, chainId, [
    blockAt(finalityTag),
    ['eth_getTransactionCount', treasury, finalityTag],
  ])
  const finalHeight = readFinalBlock(finalResponse)?.height ?? -1n
  const responses = await receiptsOf(node, chainId, references)
  for (const [index, response] of responses.entries()) {
    const receipt = readReceipt(resultOf(response))
    const reference = references[index]
    if (receipt === undefined || reference === undefined) continue
    if (receipt.block === undefined) return { kind: 'seen', reference }
    const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
    const block = readBlock(canonical)
    if (block === undefined) return { kind: 'seen', reference }
    // A reorganization removed the block and the payment.
    if (block.hash !== receipt.block.hash) continue
    if (finalHeight < block.height) return { kind: 'seen', reference }
    return receipt.succeeded
      ? { kind: 'final', reference, ...(receipt.cost !== undefined && { cost: receipt.cost }) }
      : { kind: 'failed', reference, reason: 'the transfer reverted' }
  }
  const hasFinalBlock = finalHeight >= 0n
  return hasFinalBlock && quantity(resultOf(countResponse)) > nonce
    ? { kind: 'nonce_used' }
    : { kind: 'unknown' }
}

type Ended = Extract<PayoutOutcome, { kind: 'final' | 'failed' }>

/** What one node calls final is only seen until as many providers as required say the same. */
const agreedEnd = async (
  { minProviders }: EvmSettings,
  nodes: NodePool,
  observe: (node: Node) => Promise<PayoutOutcome | NonceUsed>,
  first: Ended,
): Promise<PayoutOutcome> => {
  if (minProviders === 1) return first
  const { kind, reference } = first
  const { responses } = await nodes.queryProviders(observe, minProviders)
  const agreeing = responses.filter(
    ({ response }) => response.kind === kind && response.reference === reference,
  )
  return agreeing.length >= minProviders ? first : { kind: 'seen', reference }
}

/**
 * The outcome over all transactions that were signed at one nonce. NONCE_USED_BY_ANOTHER allows another one, so it requires
 * that the nonce is used in a final block and that no node, queried again, has a receipt of one of ours.
 */
export const observeNonce = async (
  settings: EvmSettings,
  nodes: NodePool,
  signed: readonly SignedTransfer[],
): Promise<PayoutOutcome> => {
  const newestFirst = signed.toReversed()
  const [newest] = newestFirst
  if (newest === undefined) return { kind: 'unknown' }
  const { nonce, reference } = newest
  assert(nonce !== null && signed.every((one) => one.nonce === nonce), 'all transactions have one nonce')
  const references = newestFirst.map((one) => one.reference)
  const observe = (node: Node) => observeVia(settings, node, references, nonce)

  const first = await nodes.query(observe)
  if (first.kind === 'final' || first.kind === 'failed') return agreedEnd(settings, nodes, observe, first)
  if (first.kind !== 'nonce_used') return first
  const confirmed = await Promise.all(await nodes.queryHealthy(observe)).catch((failure: unknown) => {
    throw unavailable(
      'The nonce of a transaction is used, but not every node could be queried for it',
      failure,
    )
  })
  const ours = confirmed.filter((outcome) => outcome.kind !== 'nonce_used')
  return ours[0] ?? { kind: 'failed', reference, reason: NONCE_USED_BY_ANOTHER }
}
