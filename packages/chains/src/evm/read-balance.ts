import type { AgreedBalance } from '@market/core/ports/chain'
import { assert } from '@market/kernel/assert'
import { encodeFunctionData, erc20Abi } from 'viem'
import type { NodePool } from '../nodes/node-pool.ts'
import { agreeOnBalance } from '../nodes/providers.ts'
import { maxLagOf } from './evm-nodes.ts'
import { quantity, word } from './parse-rpc.ts'
import { callAll } from './rpc.ts'
import { type EvmSettings, parseAddress } from './settings.ts'

/** The USDC of an address, as far as enough providers show it. */
export const readBalance = async (
  settings: EvmSettings,
  nodes: NodePool,
  address: string,
): Promise<AgreedBalance> => {
  const { network, chainId, usdc, finalityTag, minProviders } = settings
  const owner = parseAddress(address)
  assert(owner !== undefined, `${address} is not an EVM address`)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
  const responses = await nodes.queryProviders(async (node) => {
    const [head, final, latest] = await callAll(node, chainId, [
      ['eth_blockNumber'],
      ['eth_call', { to: usdc, data }, finalityTag],
      ['eth_call', { to: usdc, data }, 'latest'],
    ])
    return { head: quantity(head), final: word(final), latest: word(latest) }
  }, minProviders)
  return agreeOnBalance(network, responses, { minProviders, maxLag: maxLagOf(settings) })
}
