import { unavailable } from '@market/kernel/api-error'
import { largest } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt } from './evm-nodes.ts'
import { quantity, readBlock } from './parse-rpc.ts'
import { callAll } from './rpc.ts'

export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Fees of an earlier transaction. Null when they are unknown. */
type PreviousFees = { readonly [Name in keyof Fees]: bigint | null }

/** The base fee can double within six full blocks. The unused part is not charged. */
const BASE_FEE_FACTOR = 2n
/** Nodes require a replacement to raise both fees by 10 %. The rest is a margin for rounding. */
const REPLACEMENT_PERMILLE = 1_125n

/** Fees that a transaction should offer now. */
export const readFees = async (node: Node, chainId: number): Promise<Fees> => {
  const [latest, tip] = await callAll(node, chainId, [blockAt('latest'), ['eth_maxPriorityFeePerGas']])
  const base = readBlock(latest)?.baseFeePerGas
  if (base === undefined) throw new Error('the node returned no base fee')
  const maxPriorityFeePerGas = quantity(tip) > 0n ? quantity(tip) : 1n
  return { maxFeePerGas: base * BASE_FEE_FACTOR + maxPriorityFeePerGas, maxPriorityFeePerGas }
}

const baseFeeIn = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees): bigint =>
  (maxFeePerGas - maxPriorityFeePerGas) / BASE_FEE_FACTOR

/** Whether the block producer would receive at least half of the current tip. Below that it may ignore the transaction. */
export const isFeeSufficient = (offered: Fees, current: Fees): boolean => {
  const aboveBase = offered.maxFeePerGas - baseFeeIn(current)
  return [aboveBase, offered.maxPriorityFeePerGas].every((tip) => tip * 2n >= current.maxPriorityFeePerGas)
}

/** The lowest fee that replaces a transaction with this fee. */
export const minReplacementFee = (fee: bigint): bigint => (fee * REPLACEMENT_PERMILLE + 999n) / 1_000n

/**
 * The fees of the next transaction: the current ones, or what is needed to replace the previous ones. Throws when they
 * exceed the cap; the payout then waits until fees fall.
 */
export const nextFees = (current: Fees, previous: readonly PreviousFees[], cap: bigint): Fees => {
  const raise = (now: bigint, earlier: readonly (bigint | null)[]): bigint =>
    largest([now, ...earlier.map((fee) => minReplacementFee(fee ?? 0n))])
  const tip = raise(
    current.maxPriorityFeePerGas,
    previous.map((one) => one.maxPriorityFeePerGas),
  )
  const needed = raise(
    current.maxFeePerGas,
    previous.map((one) => one.maxFeePerGas),
  )
  const maxFeePerGas = largest([needed, tip])
  if (maxFeePerGas <= cap) return { maxFeePerGas, maxPriorityFeePerGas: tip }

  // The margin above the current base fee can be reduced as long as a block would still include the transaction.
  const minFee = largest([tip, ...previous.map((one) => minReplacementFee(one.maxFeePerGas ?? 0n))])
  const base = baseFeeIn(current)
  if (cap >= minFee && cap >= base + tip) return { maxFeePerGas: cap, maxPriorityFeePerGas: tip }
  throw unavailable(`The network requires ${maxFeePerGas} wei per gas. The configured maximum is ${cap}.`)
}
