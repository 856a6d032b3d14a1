import { evmChain } from '@market/chains/evm/evm-chain'
import { openEvmFacilitator } from '@market/chains/evm/evm-facilitator'
import { systemClock } from '@market/kernel/clock'
import type { EvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import { settingsFor } from '../chains/evm-world.ts'
import type { Market } from './market.ts'

interface World {
  readonly market: Market
  readonly chain: EvmNetwork
  readonly treasury: string
  readonly gas: string
}

/** What sweeps of the worker need on Base, for a test that runs each one at its own moment. */
export async function sweepContext({ market, chain, treasury, gas }: World) {
  const settings = settingsFor(chain, treasury)
  return {
    ...marketContext({ db: market.db }),
    clock: { ...systemClock, now: () => new Date(market.now()) },
    chains: { 'base-mainnet': evmChain(settings) },
    facilitators: { 'base-mainnet': await openEvmFacilitator({ ...settings, gasAccount: gas }) },
  }
}
