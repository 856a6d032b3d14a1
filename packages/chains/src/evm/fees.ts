import { unavailable } from '@market/kernel/api-error'
import { largest } from '../nodes/largest.ts'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt } from './evm-nodes.ts'
import { quantity, readBlock } from './read-answer.ts'
import { callAll } from './rpc.ts'

export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** What was offered before; without them, where nobody knows. */
type Offered = { readonly [Name in keyof Fees]: bigint | null }

/** The base fee can double in six full blocks; what is not needed is not paid. */
const BASE_FEE_ROOM = 2n
/** Nodes ask for 10 % more on both fees; the rest is room for their rounding. */
const REPLACEMENT_PERMILLE = 1_125n

/** What a transaction of now should offer. */
export const readFees = async (node: Node, chainId: number): Promise<Fees> => {
  const [latest, tip] = await callAll(node, chainId, [blockAt('latest'), ['eth_maxPriorityFeePerGas']])
  const base = readBlock(latest)?.baseFeePerGas
  if (base === undefined) throw new Error('the node tells no base fee')
  const maxPriorityFeePerGas = quantity(tip) > 0n ? quantity(tip) : 1n
  return { maxFeePerGas: base * BASE_FEE_ROOM + maxPriorityFeePerGas, maxPriorityFeePerGas }
}

const baseFeeIn = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees): bigint =>
  (maxFeePerGas - maxPriorityFeePerGas) / BASE_FEE_ROOM

/** Whether whoever makes blocks would get half of what they ask today: for less they may let it lie. */
export const isEnough = (offered: Fees, now: Fees): boolean => {
  const aboveBase = offered.maxFeePerGas - baseFeeIn(now)
  return [aboveBase, offered.maxPriorityFeePerGas].every((tip) => tip * 2n >= now.maxPriorityFeePerGas)
}

/** The smallest fee that takes the place of another. */
export const raised = (fee: bigint): bigint => (fee * REPLACEMENT_PERMILLE + 999n) / 1_000n

/**
 * The fees of the next signature: today's, or as much as it takes to replace the earlier ones. Above the cap nothing is
 * signed; the network's fees come down again, and the payout waits.
 */
export const nextFees = (now: Fees, before: readonly Offered[], cap: bigint): Fees => {
  const outbid = (today: bigint, earlier: readonly (bigint | null)[]): bigint =>
    largest([today, ...earlier.map((fee) => raised(fee ?? 0n))])
  const tip = outbid(
    now.maxPriorityFeePerGas,
    before.map((one) => one.maxPriorityFeePerGas),
  )
  const needed = outbid(
    now.maxFeePerGas,
    before.map((one) => one.maxFeePerGas),
  )
  const maxFeePerGas = largest([needed, tip])
  if (maxFeePerGas <= cap) return { maxFeePerGas, maxPriorityFeePerGas: tip }

  // The room above today's base fee may be given up, if something remains that a block would take.
  const floor = largest([tip, ...before.map((one) => raised(one.maxFeePerGas ?? 0n))])
  const base = baseFeeIn(now)
  if (cap >= floor && cap >= base + tip) return { maxFeePerGas: cap, maxPriorityFeePerGas: tip }
  throw unavailable(`The network asks for ${maxFeePerGas} wei per gas, and our cap is ${cap}`)
}
