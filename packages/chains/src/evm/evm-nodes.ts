import { unavailable } from '@market/kernel/api-error'
import { type Node, type NodePool, nodePool } from '../nodes/node-pool.ts'
import { supported } from '../nodes/providers.ts'
import { type Block, quantity, readBlock } from './parse-rpc.ts'
import { type Call, callAll, callEach, type RpcError, type RpcResponse, resultOf } from './rpc.ts'
import { checkSettings, type EvmSettings } from './settings.ts'

/** One minute on a chain with a block every two seconds. */
const DEFAULT_LAG = 30

export const maxLagOf = ({ maxLagBlocks }: EvmSettings): bigint => BigInt(maxLagBlocks ?? DEFAULT_LAG)

export const heightOf = async (node: Node, chainId: number): Promise<bigint> => {
  const [height] = await callAll(node, chainId, [['eth_blockNumber']])
  return quantity(height)
}

export const evmNodes = (settings: EvmSettings): NodePool => {
  const { network, chainId, rpcUrls, providers, timeoutMs, cooldownMs, compareEveryMs } =
    checkSettings(settings)
  return nodePool({
    network,
    urls: rpcUrls,
    providers,
    height: (node) => heightOf(node, chainId),
    maxLag: maxLagOf(settings),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(cooldownMs === undefined ? {} : { cooldownMs }),
    ...(compareEveryMs === undefined ? {} : { compareEveryMs }),
  })
}

export const blockAt = (height: bigint | 'safe' | 'finalized' | 'latest'): Call => [
  'eth_getBlockByNumber',
  typeof height === 'bigint' ? `0x${height.toString(16)}` : height,
  false,
]

export const readBlockAt = async (node: Node, chainId: number, height: bigint) =>
  readBlock((await callAll(node, chainId, [blockAt(height)]))[0])

/** The height that is final for as many providers as required. */
export const agreedFinalHeight = async (
  { network, chainId, finalityTag, minProviders }: EvmSettings,
  nodes: NodePool,
): Promise<bigint> => {
  const { responses, failures } = await nodes.queryProviders(async (node) => {
    const [response] = await callEach(node, chainId, [blockAt(finalityTag)])
    return readFinalBlock(response)?.height ?? -1n
  }, minProviders)
  const height = supported(
    responses.map(({ response }) => response),
    minProviders,
  )
  if (height !== undefined) return height
  const cause = new AggregateError(failures, failures.map((failure) => (failure as Error).message).join('; '))
  throw unavailable(`The final block of ${network} is shown by too few providers. Try again later.`, cause)
}

const UNKNOWN_BLOCK = -39_001
const NO_SUCH_BLOCK = /^(?:safe|finalized|unknown) block(?: not found)?$/i

const hasNoFinalBlock = ({ code, message }: RpcError): boolean =>
  code === UNKNOWN_BLOCK || NO_SUCH_BLOCK.test(message)

/** The newest final block. Undefined on a new chain without one, which nodes report with different errors. */
export const readFinalBlock = (response: RpcResponse | undefined): Block | undefined =>
  response !== undefined && 'error' in response && hasNoFinalBlock(response.error)
    ? undefined
    : readBlock(resultOf(response))
