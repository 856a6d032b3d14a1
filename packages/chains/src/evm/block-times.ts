import { unavailable } from '@market/kernel/api-error'
import type { NodePool } from '../nodes/node-pool.ts'
import { supported } from '../nodes/providers.ts'
import { recent } from '../recent.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { readBlock } from './parse-rpc.ts'
import { callEach, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

/** Times in seconds that as many providers as required have reached. Undefined where fewer responded, or no block is final. */
export interface BlockTimes {
  readonly newest: bigint | undefined
  readonly final: bigint | undefined
}

const secondsOf = (at: Date): bigint => BigInt(at.getTime() / 1_000)

const readTimes = async (
  { network, chainId, finalityTag, minProviders }: EvmSettings,
  nodes: NodePool,
): Promise<BlockTimes> => {
  const { responses, failures } = await nodes.queryProviders(async (node) => {
    const [newest, final] = await callEach(node, chainId, [blockAt('latest'), blockAt(finalityTag)])
    const block = readBlock(resultOf(newest))
    if (block === undefined) throw new Error('the node has no newest block')
    const finalBlock = readFinalBlock(final)
    return { newest: secondsOf(block.at), final: finalBlock && secondsOf(finalBlock.at) }
  }, minProviders)
  if (responses.length === 0)
    throw unavailable(
      `The ${network} network cannot be reached. Try again later.`,
      new AggregateError(failures),
    )
  const reachedBy = (times: readonly (bigint | undefined)[]) =>
    supported(
      times.filter((time) => time !== undefined),
      minProviders,
    )
  const shown = responses.map(({ response }) => response)
  return {
    newest: reachedBy(shown.map((one) => one.newest)),
    final: reachedBy(shown.map((one) => one.final)),
  }
}

/** Reads the times of the newest blocks once for all payouts of a few seconds. What is decided with them takes minutes. */
export const blockTimes = (
  settings: EvmSettings,
  nodes: NodePool,
  keptMs: number,
): (() => Promise<BlockTimes>) => recent(keptMs, () => readTimes(settings, nodes))
