import { operations as o } from '../operations.ts'
import { walletFields } from './agents.ts'
import { CREATE, READ, SPEND, type Tool, tool } from './define.ts'

export const earnTools: readonly Tool[] = [
  tool(o.listEarnMarkets, {
    name: 'market_earn_markets',
    title: 'List markets of Earn',
    description:
      'List venues that earn with USDC: rate, risk, and the treasury wallet for deposits. Next: market_earn_deposit.',
    annotations: READ,
  }),
  tool(o.listEarnPositions, {
    name: 'market_earn_positions',
    title: 'List positions of Earn',
    description: 'List your shares, their value, deposits and withdrawals.',
    annotations: READ,
  }),
  tool(
    o.depositToEarn,
    {
      name: 'market_earn_deposit',
      title: 'Register a deposit',
      description:
        'Register a transfer to a market’s treasury wallet, signed by its sender; shares follow. Money can be lost: borrowers can default, and leveraged traders can win against liquidity providers. Ask your user first.',
      annotations: CREATE,
    },
    { input: o.depositToEarn.input.extend(walletFields), scope: 'market:funds' },
  ),
  tool(
    o.withdrawFromEarn,
    {
      name: 'market_earn_withdraw',
      title: 'Withdraw from a pool',
      description:
        'Withdraw shares (or all: true) for what the vault pays, which can be less than was paid. Status queued: they wait for liquidity, and gain or lose until then.',
      annotations: SPEND,
    },
    { scope: 'market:funds' },
  ),
]
