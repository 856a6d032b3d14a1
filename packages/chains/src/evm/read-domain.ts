import { decodeAbiParameters, domainSeparator, encodeFunctionData, parseAbi } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import type { TokenDomain } from './authorization-call.ts'
import { bytes } from './parse-rpc.ts'
import { callAll } from './rpc.ts'
import { type EvmSettings, parseAddress } from './settings.ts'

const TOKEN = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])

const textIn = (result: unknown): string => decodeAbiParameters([{ type: 'string' }], bytes(result))[0]

/** The token's EIP-712 domain, and whether its hash equals the token's DOMAIN_SEPARATOR. */
export const readDomain = async (
  { chainId, usdc }: EvmSettings,
  node: Node,
): Promise<{ readonly domain: TokenDomain; readonly isValid: boolean }> => {
  const verifyingContract = parseAddress(usdc)
  if (verifyingContract === undefined) throw new Error(`${usdc} is not an EVM address`)
  const calls = (['name', 'version', 'DOMAIN_SEPARATOR'] as const).map((functionName) => {
    const data = encodeFunctionData({ abi: TOKEN, functionName })
    return ['eth_call', { to: usdc, data }, 'latest'] as const
  })
  const [name, version, separator] = await callAll(node, chainId, calls)
  const domain = { name: textIn(name), version: textIn(version), chainId, verifyingContract }
  return { domain, isValid: domainSeparator({ domain }) === bytes(separator) }
}
