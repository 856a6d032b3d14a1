import { listSwitches, payoutSwitches, type SwitchState } from '@market/core/switches'
import { formatUsd } from '@market/kernel/money'
import { FEE_BPS } from '@market/money/ledger'
import { type HandlerContext, handler } from './handler.ts'
import type { PublicNetwork } from './public-settings.ts'

/** Every chain adapter checks at start that its USDC has these. */
const USDC_DECIMALS = 6

const presentNetwork = (one: PublicNetwork) => ({
  network: one.network,
  kind: one.chainId === undefined ? ('solana' as const) : ('evm' as const),
  is_test: one.isTest,
  chain_id: one.chainId ?? null,
  caip2: one.caip2,
  usdc: one.usdc,
  usdc_decimals: USDC_DECIMALS,
  explorer_transaction_url: one.explorer.transaction ?? null,
  explorer_address_url: one.explorer.address ?? null,
  public_rpc_url: one.publicNode ?? null,
  coin: one.coin,
  min_payout_usd: formatUsd(one.minPayout),
  confirmations: one.confirmations
    .toSorted((a, b) => (a.from < b.from ? -1 : 1))
    .map(({ from, blocks }) => ({
      from_usd: formatUsd(from),
      ...(typeof blocks === 'number'
        ? { until: 'blocks' as const, blocks }
        : { until: blocks, blocks: null }),
    })),
})

function presentStopped(states: readonly SwitchState[], { publicSettings }: HandlerContext) {
  const on = new Set(states.filter(({ onSince }) => onSince !== null).map(({ name }) => name))
  return {
    writes: on.has('read_only'),
    intake: on.has('freeze_intake'),
    payouts: publicSettings.networks
      .map(({ network }) => network)
      .filter((network) => payoutSwitches(network).some((name) => on.has(name))),
  }
}

export const configHandlers = {
  getConfig: handler('getConfig', {
    run: (ctx) => listSwitches(ctx),
    present: (states, ctx) => {
      const { networks, identityProvider, filesUrl } = ctx.publicSettings
      const { issuer, audience, clientIds, scopes } = identityProvider
      const bps = Number(FEE_BPS)
      return {
        data: {
          networks: networks.map(presentNetwork),
          fees: {
            order_bps: bps,
            x402_bps: bps,
            bounty_bps: bps,
            registration_usd: formatUsd(ctx.registrationFee),
          },
          min_price_usd: formatUsd(ctx.minPrice),
          identity_provider: {
            issuer,
            audience,
            client_ids: { web: clientIds.web ?? null, cli: clientIds.cli ?? null },
            scopes: [...scopes],
          },
          files_url: filesUrl ?? null,
          stopped: presentStopped(states, ctx),
        },
      }
    },
  }),
}
