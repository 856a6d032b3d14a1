import type { FinalBlock, FinalMovements, FinalReading } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { type Address, encodeFunctionData, erc20Abi } from 'viem'
import { larger, smaller } from '../bigints.ts'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { agreeOnRange, type RangeReport } from '../nodes/providers.ts'
import { agreedFinalHeight, blockAt, readFinalBlock } from './evm-nodes.ts'
import { readBlock, word } from './parse-rpc.ts'
import { byTransaction, isTooLarge, movementsIn, readRange } from './read-movements.ts'
import { callAll, callEach } from './rpc.ts'
import { blocksPerRequest, type EvmSettings } from './settings.ts'

/** Where the first reading starts: 5.5 hours ago on a chain with a block every two seconds. */
const INITIAL_LOOKBACK_BLOCKS = 10_000n

/** The final block before `watchFrom`, or of some hours ago. */
export const readStartingBlock = async (settings: EvmSettings, nodes: NodePool): Promise<FinalBlock> => {
  const final = await agreedFinalHeight(settings, nodes)
  const wanted = settings.watchFrom === undefined ? final - INITIAL_LOOKBACK_BLOCKS : settings.watchFrom - 1n
  const height = larger(smaller(wanted, final), 0n)
  return nodes.query(async (node) => {
    const [response] = await callAll(node, settings.chainId, [blockAt(height)])
    const block = readBlock(response)
    if (block === undefined) throw new Error(`the node does not have block ${height}`)
    return { height, hash: block.hash }
  })
}

/** How one provider shows the blocks after a final one. It must call the last of them final. */
const reportRange = async (
  settings: EvmSettings,
  node: Node,
  after: FinalBlock,
  { to, isNewest }: { readonly to: bigint; readonly isNewest: boolean },
): Promise<RangeReport> => {
  const [tagged] = await callEach(node, settings.chainId, [blockAt(settings.finalityTag)])
  if ((readFinalBlock(tagged)?.height ?? -1n) < to) throw new Error(`has no final block ${to}`)
  const from = after.height + 1n
  const { last, logs, isAnchored } = await readRange(settings, node, { from, to, anchor: after })
  if (!isAnchored) return undefined
  const movements = await movementsIn(settings, node, byTransaction(logs), true)
  return { ...movements, to: last, ...(isNewest && (await readHeld(settings, node, to))) }
}

/** Nodes keep the state of the newest final block, and not that of each one before. */
const readHeld = async (
  { chainId, usdc: asset, treasury, cold }: EvmSettings,
  node: Node,
  height: bigint,
): Promise<Pick<FinalMovements, 'treasuryHeld' | 'coldHeld'>> => {
  const calls = [treasury, ...(cold === undefined ? [] : [cold])].map((owner) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner as Address] })
    return ['eth_call', { to: asset, data }, `0x${height.toString(16)}`] as const
  })
  const [treasuryHeld, coldHeld] = (await callAll(node, chainId, calls)).map((result) => usdc(word(result)))
  return { treasuryHeld, coldHeld }
}

/**
 * One equal hash means one equal chain up to it, so the blocks are final when enough providers call them so with the same
 * movements. A provider that is behind does not count.
 */
export const readFinal = async (
  settings: EvmSettings,
  nodes: NodePool,
  after: FinalBlock,
): Promise<FinalReading> => {
  const { network, minProviders } = settings
  const final = await agreedFinalHeight(settings, nodes)
  if (final <= after.height) return { agreed: undefined, isEnd: true, disagreeing: [] }
  const readTo = async (to: bigint): Promise<FinalReading> => {
    const part = { to, isNewest: to === final }
    const reports = await nodes.queryProviders(
      (node) => reportRange(settings, node, after, part),
      minProviders,
    )
    const isPart = reports.responses.length < minProviders && reports.failures.some(isTooLarge)
    if (isPart && to > after.height + 1n) return readTo((after.height + to) / 2n)
    const { agreed, disagreeing } = agreeOnRange(network, reports, minProviders)
    return { agreed, isEnd: agreed?.to.height === final, disagreeing }
  }
  return readTo(smaller(final, after.height + blocksPerRequest(settings)))
}
