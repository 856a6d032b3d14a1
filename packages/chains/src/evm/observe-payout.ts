import {
  NONCE_USED_BY_ANOTHER,
  type PayoutOutcome,
  type SignedTransfer,
} from '@market/core/ports/payout-sender'
import { unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity, readBlock, readReceipt } from './read-answer.ts'
import { type Answer, type Call, callAll, callEach, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

const MOST_RECEIPTS_ASKED_TOGETHER = 20

type Lost = { readonly kind: 'nonce_used' }

/** Receipts of all signatures, newest first, and only then anything else. */
const receiptsOf = async (node: Node, chainId: number, references: readonly string[]): Promise<Answer[]> => {
  const answers: Answer[] = []
  for (let start = 0; start < references.length; start += MOST_RECEIPTS_ASKED_TOGETHER) {
    const some = references.slice(start, start + MOST_RECEIPTS_ASKED_TOGETHER)
    const calls = some.map((reference): Call => ['eth_getTransactionReceipt', reference])
    answers.push(...(await callEach(node, chainId, calls)))
  }
  return answers
}

const lookThrough = async (
  settings: EvmSettings,
  node: Node,
  references: readonly string[],
  nonce: bigint,
): Promise<PayoutOutcome | Lost> => {
  const { chainId, finalityTag, treasury } = settings
  const [finalAnswer, countAnswer] = await callEach(node, chainId, [
    blockAt(finalityTag),
    ['eth_getTransactionCount', treasury, finalityTag],
  ])
  const finalHeight = readFinalBlock(finalAnswer)?.height ?? -1n
  const answers = await receiptsOf(node, chainId, references)
  for (const [index, answer] of answers.entries()) {
    const receipt = readReceipt(resultOf(answer))
    const reference = references[index]
    if (receipt === undefined || reference === undefined) continue
    if (receipt.block === undefined) return { kind: 'seen', reference }
    const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
    const block = readBlock(canonical)
    if (block === undefined) return { kind: 'seen', reference }
    // The block lost its place, and the payment with it.
    if (block.hash !== receipt.block.hash) continue
    if (finalHeight < block.height) return { kind: 'seen', reference }
    return receipt.succeeded
      ? { kind: 'final', reference }
      : { kind: 'failed', reference, reason: 'the transfer reverted' }
  }
  const isYoung = finalHeight < 0n
  return !isYoung && quantity(resultOf(countAnswer)) > nonce ? { kind: 'nonce_used' } : { kind: 'unknown' }
}

/**
 * What became of a payout over all its signatures. "Used by another transaction" lets the market pay again, so it is said
 * only when a final block has used the nonce and every node, asked anew, has a receipt of none of ours.
 */
export const observePayout = async (
  settings: EvmSettings,
  nodes: NodePool,
  signed: readonly SignedTransfer[],
): Promise<PayoutOutcome> => {
  const newestFirst = signed.toReversed()
  const [newest] = newestFirst
  if (newest === undefined) return { kind: 'unknown' }
  const { nonce, reference } = newest
  assert(nonce !== null && signed.every((one) => one.nonce === nonce), 'one payout has one nonce')
  const references = newestFirst.map((one) => one.reference)
  const look = (node: Node) => lookThrough(settings, node, references, nonce)

  const first = await nodes.ask(look)
  if (first.kind !== 'nonce_used') return first
  const again = await Promise.all(await nodes.askGood(look)).catch((failure: unknown) => {
    throw unavailable('The nonce of a payout is used, and not every node tells by what', failure)
  })
  const ours = again.filter((outcome) => outcome.kind !== 'nonce_used')
  return ours[0] ?? { kind: 'failed', reference, reason: NONCE_USED_BY_ANOTHER }
}
