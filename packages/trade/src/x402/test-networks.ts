import type { Chain } from '@market/core/ports/chain'
import type { Network } from '@market/kernel/network'
import type { MarketContext } from '@market/testing/market-context'

/** The same context with these networks open. Listing services does not query the chains. */
export const withOpen = (ctx: MarketContext, ...networks: readonly Network[]): MarketContext => ({
  ...ctx,
  chains: Object.fromEntries(
    networks.map((network) => [network, { network, treasury: 'treasury', usdc: 'usdc' } as Chain]),
  ),
})
