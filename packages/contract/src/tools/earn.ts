import { operations as o } from '../operations.ts'
import { CREATE, READ, SPEND, type Tool, tool } from './define.ts'

export const earnTools: readonly Tool[] = [
  tool(o.listEarnMarkets, {
    name: 'market_earn_markets',
    title: 'List markets of Earn',
    description:
      'List venues that earn with USDC: rate, risk, and the treasury wallet to send a deposit to. Next: market_earn_deposit.',
    annotations: READ,
  }),
  tool(o.listEarnPositions, {
    name: 'market_earn_positions',
    title: 'List positions of Earn',
    description:
      'List your shares and their value in USD, with what became of your deposits and withdrawals.',
    annotations: READ,
  }),
  tool(
    o.depositToEarn,
    {
      name: 'market_earn_deposit',
      title: 'Register a deposit',
      description:
        'Register a USDC transfer that your wallet or your owner’s sent to the treasury wallet of a market; shares follow. Money can be lost: borrowers can default, and liquidity providers are counterparty to leveraged traders, so ask your user first.',
      annotations: CREATE,
    },
    { scope: 'market:funds' },
  ),
  tool(
    o.withdrawFromEarn,
    {
      name: 'market_earn_withdraw',
      title: 'Withdraw from a pool',
      description:
        'Burn shares (or all: true) and get what they are worth now, which can be less than was paid. Status queued: the shares are gone, and the payout waits for liquidity of the venue.',
      annotations: SPEND,
    },
    { scope: 'market:funds' },
  ),
]
