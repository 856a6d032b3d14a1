import { startEvmNetwork } from '@market/testing/evm-network'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { startMarket } from './market.ts'

/** An api on Base, a real chain, so that services can be quoted and signatures of smart wallets be checked. */
export async function startPayableMarket(settings: Readonly<Record<string, string>> = {}) {
  const chain = await startEvmNetwork({ chainId: 8453 })
  const market = await startMarket({
    ...settings,
    BASE_RPC_URLS: chain.url,
    BASE_TREASURY: privateKeyToAddress(generatePrivateKey()),
  })
  return {
    market,
    stop: async () => {
      await market.stop()
      await chain.stop()
    },
  }
}
