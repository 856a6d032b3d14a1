import { type Node, type NodePool, nodePool } from '../nodes/node-pool.ts'
import { type Block, quantity, readBlock } from './read-answer.ts'
import { type Answer, type Call, callAll, type RpcError, resultOf } from './rpc.ts'
import { checkSettings, type EvmSettings } from './settings.ts'

/** A minute of blocks on a chain that makes one every two seconds. */
const DEFAULT_LAG = 30

const heightOf = async (node: Node, chainId: number): Promise<bigint> => {
  const [height] = await callAll(node, chainId, [['eth_blockNumber']])
  return quantity(height)
}

export const evmNodes = (settings: EvmSettings): NodePool => {
  const { network, chainId, rpcUrls, timeoutMs, maxLagBlocks, asideMs, compareEveryMs } =
    checkSettings(settings)
  return nodePool({
    network,
    urls: rpcUrls,
    height: (node) => heightOf(node, chainId),
    maxLag: BigInt(maxLagBlocks ?? DEFAULT_LAG),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(asideMs === undefined ? {} : { asideMs }),
    ...(compareEveryMs === undefined ? {} : { compareEveryMs }),
  })
}

export const blockAt = (height: bigint | 'safe' | 'finalized' | 'latest'): Call => [
  'eth_getBlockByNumber',
  typeof height === 'bigint' ? `0x${height.toString(16)}` : height,
  false,
]

const UNKNOWN_BLOCK = -39_001
const NO_SUCH_BLOCK = /^(?:safe|finalized|unknown) block(?: not found)?$/i

const isTooYoung = ({ code, message }: RpcError): boolean =>
  code === UNKNOWN_BLOCK || NO_SUCH_BLOCK.test(message)

/** The newest block that stays; undefined on a chain so young that it has none, which every node says its own way. */
export const readFinalBlock = (answer: Answer | undefined): Block | undefined =>
  answer !== undefined && 'error' in answer && isTooYoung(answer.error)
    ? undefined
    : readBlock(resultOf(answer))
