import type { AgreedBalance } from '@market/core/ports/chain'
import { assert } from '@market/kernel/assert'
import { encodeFunctionData, erc20Abi } from 'viem'
import type { NodePool } from '../nodes/node-pool.ts'
import { agreeOnBalance } from '../nodes/providers.ts'
import { maxLagOf } from './evm-nodes.ts'
import { quantity, readBlock, word } from './parse-rpc.ts'
import { callAll } from './rpc.ts'
import { type EvmSettings, parseAddress } from './settings.ts'

/** The USDC of an address, as far as enough providers show it. */
export const readBalance = async (
  settings: EvmSettings,
  nodes: NodePool,
  address: string,
  minFinalHeight?: bigint,
): Promise<AgreedBalance> => {
  const { network, chainId, usdc, finalityTag, minProviders } = settings
  const owner = parseAddress(address)
  assert(owner !== undefined, `${address} is not an EVM address`)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
  const responses = await nodes.queryProviders(async (node) => {
    const [head, block, final, latest] = await callAll(node, chainId, [
      ['eth_blockNumber'],
      // Before the balance, which is then that of this block or of a later one.
      ['eth_getBlockByNumber', finalityTag, false],
      ['eth_call', { to: usdc, data }, finalityTag],
      ['eth_call', { to: usdc, data }, 'latest'],
    ])
    const finalHeight = readBlock(block)?.height ?? 0n
    return { head: quantity(head), finalHeight, final: word(final), latest: word(latest) }
  }, minProviders)
  return agreeOnBalance(network, responses, { minProviders, maxLag: maxLagOf(settings), minFinalHeight })
}
