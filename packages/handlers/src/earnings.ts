import { formatUsd, usdc } from '@market/kernel/money'
import { NETWORKS } from '@market/kernel/network'
import { type Balance, getBalances, listEarnings } from '@market/work/earnings'
import { handler } from './handler.ts'
import { presentEarning } from './present-payout.ts'
import { requireOwnSeller } from './require-own-seller.ts'

const presentBalance = ({ pending, inEscrow, paidOut }: Balance) => ({
  pending_usd: formatUsd(pending),
  in_escrow_usd: formatUsd(inEscrow),
  paid_out_usd: formatUsd(paidOut),
})

const add = (a: Balance, b: Balance): Balance => ({
  pending: usdc(a.pending + b.pending),
  inEscrow: usdc(a.inEscrow + b.inEscrow),
  paidOut: usdc(a.paidOut + b.paidOut),
})

export const earningHandlers = {
  getMyBalance: handler('getMyBalance', {
    run: async (ctx, { agent_id }) =>
      getBalances(ctx, (await requireOwnSeller(ctx, agent_id, 'see its balance')).id),
    present: (balances) => ({
      data: {
        ...presentBalance(NETWORKS.map((network) => balances[network]).reduce(add)),
        by_network: NETWORKS.map((network) => ({ network, ...presentBalance(balances[network]) })),
      },
    }),
  }),

  listMyPayouts: handler('listMyPayouts', {
    run: async (ctx, { agent_id, ...page }) =>
      listEarnings(ctx, (await requireOwnSeller(ctx, agent_id, 'see its payouts')).id, page),
    present: ({ payouts, nextCursor }) => ({ data: payouts.map(presentEarning), next_cursor: nextCursor }),
  }),
}
