import type { Settlement, SettlementOutcome } from '@market/core/ports/facilitator'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import type { Authorization } from './authorization.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { type Log, readBlock, readReceipt, word } from './read-answer.ts'
import { readPage, type Walk } from './read-page.ts'
import { usedCall } from './reject-authorization.ts'
import { callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'
import { AUTHORIZATION_USED_TOPIC, movedByAuthorization, topicOf } from './transfers.ts'
import type { WatchPosition } from './watch-position.ts'

/** How many nodes must agree that nothing can happen any more, when there are as many. */
const WITNESSES = 2

const UNKNOWN: SettlementOutcome = { kind: 'unknown' }

/** Whether this transaction stands on the chain and brought the whole payment to the treasury. */
const isPaidBy = async (
  { chainId, usdc }: EvmSettings,
  node: Node,
  reference: string,
  { from, to, nonce, value }: Authorization,
): Promise<boolean> => {
  const [answer] = await callAll(node, chainId, [['eth_getTransactionReceipt', reference]])
  const receipt = readReceipt(answer)
  if (receipt?.block === undefined || !receipt.succeeded) return false
  const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
  // A receipt from a block that lost its place tells nothing.
  if (readBlock(canonical)?.hash !== receipt.block.hash) return false
  const signed = { from: addressKey(from), to: addressKey(to), nonce }
  return movedByAuthorization(receipt.logs, addressKey(usdc), signed) === value
}

/** Where the authorization was used since it came to us, which happens once: whoever saw it may have been faster. */
const useOf = async (
  settings: EvmSettings,
  node: Node,
  { from, nonce }: Authorization,
  since: bigint,
): Promise<string | undefined> => {
  const walk: Walk<{ readonly log: Log }> = {
    topics: [AUTHORIZATION_USED_TOPIC, topicOf(from), nonce],
    upTo: ({ head }) => head,
    pick: (logs) => logs.map((log) => ({ log })),
  }
  let position: WatchPosition | undefined
  for (;;) {
    const page = await readPage({ ...settings, watchFrom: since }, node, walk, position, 1)
    const [use] = page.moved
    if (use !== undefined || page.isEnd) return use?.reference
    position = page.position
  }
}

/** One look through one node. */
const lookThrough = async (
  settings: EvmSettings,
  node: Node,
  { reference, signedAtHeight }: Settlement,
  authorization: Authorization,
): Promise<SettlementOutcome> => {
  const { chainId, usdc, finalityTag } = settings
  if (await isPaidBy(settings, node, reference, authorization)) return { kind: 'arrived', reference }
  const [used, finalAnswer] = await callEach(node, chainId, [
    usedCall(usdc, authorization, 'latest'),
    blockAt(finalityTag),
  ])
  const isUsed = word(resultOf(used)) !== 0n
  const other = isUsed ? await useOf(settings, node, authorization, signedAtHeight) : undefined
  if (other !== undefined && (await isPaidBy(settings, node, other, authorization)))
    return { kind: 'arrived', reference: other }

  const final = readFinalBlock(finalAnswer)
  if (final === undefined) return UNKNOWN
  // The state of that very block, and not of the newest final one: there may be a newer one by now.
  const [spent] = await callAll(node, chainId, [
    usedCall(usdc, authorization, `0x${final.height.toString(16)}`),
  ])
  const isSpent = word(spent) !== 0n
  // Used since we looked for where it was used: the next look finds it.
  if (isSpent && !isUsed) return UNKNOWN
  if (isSpent) return { kind: 'void', reason: 'the authorization was cancelled or used for something else' }
  const isOver = BigInt(final.at.getTime() / 1_000) >= authorization.validBefore
  return isOver ? { kind: 'void', reason: 'the authorization expired' } : UNKNOWN
}

/**
 * What became of a payment. That it is void lets the buyer pay again, so it is said only of a final block, and only when
 * no node contradicts and two agree, if there are two.
 */
export const observeSettlement = async (
  settings: EvmSettings,
  nodes: NodePool,
  settlement: Settlement,
  authorization: Authorization,
): Promise<SettlementOutcome> => {
  const look = (node: Node) => lookThrough(settings, node, settlement, authorization)
  // A node that lags has not heard of a fresh payment, so the others are asked before nothing was seen.
  const first = await nodes.ask(look, ({ kind }) => kind === 'arrived')
  if (first.kind !== 'void') return first

  const answers = await Promise.allSettled(await nodes.askGood(look))
  const told = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const arrived = told.find(({ kind }) => kind === 'arrived')
  if (arrived !== undefined) return arrived
  const isAgreed = told.every(({ kind }) => kind === 'void')
  return isAgreed && told.length >= Math.min(WITNESSES, answers.length) ? first : UNKNOWN
}
