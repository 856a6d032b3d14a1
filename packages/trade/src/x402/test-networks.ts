import type { Chain } from '@market/core/ports/chain'
import type { Network } from '@market/kernel/network'
import type { MarketContext } from '@market/testing/market-context'

/** The same application with these networks open by name: nobody looks at a chain to see what is for sale. */
export const withOpen = (ctx: MarketContext, ...networks: readonly Network[]): MarketContext => ({
  ...ctx,
  chains: Object.fromEntries(
    networks.map((network) => [network, { network, treasury: 'treasury', usdc: 'usdc' } as Chain]),
  ),
})
