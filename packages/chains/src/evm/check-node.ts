import { encodeFunctionData, erc20Abi } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import { bytes, quantity, word } from './parse-rpc.ts'
import { resultOf, sendBatch } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

const USDC_DECIMALS = 6n

/** Configuration errors of a reachable node: wrong chain, or no USDC at the configured address. */
export const checkNode = async (settings: EvmSettings, node: Node): Promise<readonly string[]> => {
  const { chainId, usdc } = settings
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' })
  const [chain, code, decimals] = await sendBatch(node, [
    ['eth_chainId'],
    ['eth_getCode', usdc, 'latest'],
    ['eth_call', { to: usdc, data }, 'latest'],
  ])
  const id = quantity(resultOf(chain))
  if (id !== BigInt(chainId)) return [`${node.name} is on chain ${id}, not on ${chainId}`]
  if (bytes(resultOf(code)) === '0x') return [`${node.name} has no contract at ${usdc}`]
  const isUsdc = decimals !== undefined && 'result' in decimals && isWordEqual(decimals.result, USDC_DECIMALS)
  return isUsdc ? [] : [`${node.name} has no token with ${USDC_DECIMALS} decimals at ${usdc}`]
}

const isWordEqual = (value: unknown, expected: bigint): boolean => {
  try {
    return word(value) === expected
  } catch {
    return false
  }
}
