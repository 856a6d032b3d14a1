import type { EvmKeySigner } from '@market/core/ports/signer'
import { encodeFunctionData, type Hex, padHex, parseAbi } from 'viem'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { isContractFailure } from './contract-failure.ts'
import { bytes } from './parse-rpc.ts'
import { MULTICALL3 } from './payout-batch.ts'
import { readDomain } from './read-domain.ts'
import { usedCall } from './reject-authorization.ts'
import { callEach, type RpcResponse, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'

/** Rejects gas accounts that share a key. Each sends one transaction at a time, and the treasury's account sends none. */
export const checkGasAccounts = (
  { network, treasury }: EvmSettings,
  gasSigners: readonly EvmKeySigner[],
): void => {
  if (gasSigners.length === 0) throw new Error(`${network}: payouts need at least one gas account`)
  const accounts = gasSigners.map(({ address }) => addressKey(address))
  if (accounts.includes(addressKey(treasury)))
    throw new Error(`${network}: the gas account ${treasury} must not be the treasury`)
  const twice = accounts.find((account, index) => accounts.indexOf(account) !== index)
  if (twice !== undefined) throw new Error(`${network}: the gas account ${twice} is configured twice`)
}

const DOMAIN = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])
const NO_NONCE = padHex('0x', { size: 32 })

/** Whether the contract returned at least a word. Throws on an error of the node itself. */
const hasReturned = (response: RpcResponse | undefined): boolean => {
  if (response !== undefined && 'error' in response && isContractFailure(response.error)) return false
  return bytes(resultOf(response)).length >= 66
}

/** Why payouts cannot work, as one node shows it. Undefined when they can. */
const problemAt = async (settings: EvmSettings, node: Node): Promise<string | undefined> => {
  const { chainId, usdc, treasury } = settings
  const functions = ['name', 'version', 'DOMAIN_SEPARATOR'] as const
  const [treasuryCode, multicallCode, state, ...domainParts] = await callEach(node, chainId, [
    ['eth_getCode', treasury, 'latest'],
    ['eth_getCode', MULTICALL3, 'latest'],
    usedCall(usdc, { from: treasury as Hex, nonce: NO_NONCE }, 'latest'),
    ...functions.map((functionName) => {
      const data = encodeFunctionData({ abi: DOMAIN, functionName })
      return ['eth_call', { to: usdc, data }, 'latest'] as const
    }),
  ])
  if (bytes(resultOf(treasuryCode)) !== '0x')
    return `the treasury ${treasury} has code (EIP-7702), so USDC would ask the code for signatures. Remove the delegation`
  if (bytes(resultOf(multicallCode)) === '0x') return `Multicall3 is not deployed at ${MULTICALL3}`
  if (!hasReturned(state)) return `${usdc} has no authorizationState (EIP-3009)`
  if (!domainParts.every(hasReturned)) return `${usdc} has no EIP-712 domain`
  const { domain, isValid } = await readDomain(settings, node)
  return isValid
    ? undefined
    : `the EIP-712 domain of ${usdc} is not "${domain.name}", version "${domain.version}"`
}

/** Throws when payouts by authorization cannot work with the contracts of this network. */
export const checkPayoutContracts = async (settings: EvmSettings, nodes: NodePool): Promise<void> => {
  const problem = await nodes.query((node) => problemAt(settings, node))
  if (problem !== undefined) throw new Error(`${settings.network}: ${problem}`)
}
