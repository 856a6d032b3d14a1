import { startEvmNetwork } from '@market/testing/evm-network'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { relayTo } from '../chains/node-relay.ts'
import { startMarket } from './market.ts'

/**
 * An api on Base, a real chain behind a relay that counts queries, so that services can be quoted and signatures of smart
 * wallets be checked.
 */
export async function startPayableMarket(
  settings: Readonly<Record<string, string>> = {},
  run?: Parameters<typeof startMarket>[1],
) {
  const chain = await startEvmNetwork({ chainId: 8453 })
  const node = await relayTo(chain.url)
  const treasury = privateKeyToAddress(generatePrivateKey())
  const market = await startMarket({ ...settings, BASE_RPC_URLS: node.url, BASE_TREASURY: treasury }, run)
  return {
    market,
    chain,
    node,
    treasury,
    stop: async () => {
      await market.stop()
      await node.stop()
      await chain.stop()
    },
  }
}
