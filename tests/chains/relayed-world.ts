import { evmChain } from '@market/chains/evm/evm-chain'
import { type EvmPayoutSenderSettings, evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { localEvmSigner } from '@market/chains/local-signers'
import { ApiError } from '@market/kernel/api-error'
import { startEvmNetwork } from '@market/testing/evm-network'
import { USDC_ABI } from '@market/testing/evm-usdc'
import { encodeFunctionData, keccak256 } from 'viem'
import { FINALITY, GWEI, newAccount, settingsFor } from './evm-world.ts'
import { type RpcCall, relayTo } from './node-relay.ts'

/** For nodes that do not respond. */
export const TIMEOUT_MS = 500
export const IS_AWAY = { kind: 'unavailable', extra: { retryAfterSeconds: 2 } }

/** Repeats an unavailable query: a node that responds can take longer than the short timeout of a silent one. */
export const untilAvailable = async <T>(query: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await query()
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'unavailable') throw error
    }
  }
}

export const isOf = (method: string) => (call: RpcCall) => call.method === method

/** A chain behind two relays, and a chain with another id that has the same payment. */
export const startRelayedWorld = async () => {
  const network = await startEvmNetwork({ chainId: 8453 })
  const foreign = await startEvmNetwork({ chainId: 31_337 })
  const first = await relayTo(network.url)
  const second = await relayTo(network.url)
  const treasury = newAccount()
  const gas = newAccount()
  const payer = newAccount()
  for (const chain of [network, foreign]) {
    await chain.fund(payer.address)
    await chain.fund(gas.address)
    await chain.mint(payer.address, 1_000n)
  }

  // A transaction without a chain id is valid on both chains, so the other node has its receipt too.
  const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [treasury.address, 11n] })
  const fee = { gasPrice: 100n * GWEI, gas: 100_000n }
  const bytes = await payer.signTransaction({ type: 'legacy', nonce: 0, to: network.usdc, data, ...fee })
  for (const chain of [network, foreign]) {
    await chain.rpc('eth_sendRawTransaction', [bytes])
    await chain.mine(FINALITY)
  }

  return {
    network,
    foreign,
    first,
    second,
    treasury,
    gas,
    payer,
    /** 11 micro-USDC, final. */
    paid: keccak256(bytes),
    by(urls: readonly string[], changes: Partial<EvmPayoutSenderSettings> = {}) {
      const settings = settingsFor(network, treasury.address, { rpcUrls: urls, ...changes })
      const chain = evmChain(settings)
      const sender = evmPayoutSender(settings, localEvmSigner(treasury.key), [localEvmSigner(gas.key)])
      return { chain, sender }
    },
    calm() {
      first.mood = { kind: 'pass' }
      second.mood = { kind: 'pass' }
    },
    async stop() {
      for (const part of [first, second, network, foreign]) await part.stop()
    },
  }
}
