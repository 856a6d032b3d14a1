import { formatUsd, usdc } from '@market/kernel/money'
import { NETWORKS } from '@market/kernel/network'
import { type Balance, getBalances, listEarnings } from '@market/work/earnings'
import { handler } from './handler.ts'
import { presentEarning } from './present-payout.ts'
import { requireAgent } from './require-actor.ts'

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
    run: (ctx) => getBalances(ctx, requireAgent(ctx).id),
    present: (balances) => ({
      data: {
        ...presentBalance(NETWORKS.map((network) => balances[network]).reduce(add)),
        by_network: NETWORKS.map((network) => ({ network, ...presentBalance(balances[network]) })),
      },
    }),
  }),

  listMyPayouts: handler('listMyPayouts', {
    run: (ctx, page) => listEarnings(ctx, requireAgent(ctx).id, page),
    present: ({ payouts, nextCursor }) => ({ data: payouts.map(presentEarning), next_cursor: nextCursor }),
  }),
}
