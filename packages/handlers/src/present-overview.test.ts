import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { type OverviewFacts, presentOverview } from './present-overview.ts'

const AT = new Date('2026-03-02T12:00:00Z')
const secondsAgo = (seconds: number) => new Date(AT.getTime() - seconds * 1_000)

const CALM: OverviewFacts = {
  at: AT,
  networks: [],
  disputes: [],
  contests: { count: 0, forArbiter: 0, oldest: null },
  payouts: [],
  unmatched: [],
  dropped: [],
  gas: [],
  reserves: [],
  jobs: { waiting: 0, oldestSeconds: 0, running: 0, failing: 0 },
  statistics: { changes: 0, oldestSeconds: 0 },
  approvals: { count: 0, oldest: null, nextExpiry: null },
  alive: new Map(),
  switches: [],
}

const snapshot = (seconds: number): Pick<OverviewFacts, 'networks' | 'reserves'> => ({
  networks: ['base-mainnet'],
  reserves: [
    {
      newest: {
        ...{ id: 'rsv_1', network: 'base-mainnet', takenAt: secondsAgo(seconds), treasury: '', cold: null },
        ...{ final: usdc(0n), latest: usdc(0n), short: usdc(0n), proof: null, day: null },
        ...{ inFlight: { transactions: [], count: 0 }, wallets: null },
        balances: {
          ...{ ledger: 0n, inFlight: usdc(0n), unfinal: usdc(0n), escrow: usdc(0n) },
          ...{ payable: usdc(0n), surplus: usdc(0n), suspense: usdc(0n), fees: usdc(0n) },
          ...{ venues: usdc(0n), earn: usdc(0n) },
        },
      },
    },
  ],
})

describe('presentOverview: waiting', () => {
  test.each<[string, Partial<OverviewFacts>, string[]]>([
    ['nothing', {}, []],
    ['a contest that ends by time', { contests: { count: 1, forArbiter: 0, oldest: null } }, []],
    ['a contest for an arbiter', { contests: { count: 1, forArbiter: 1, oldest: AT } }, ['contests']],
    ['a network without a snapshot', { networks: ['base-mainnet'] }, ['reserves']],
    ['a snapshot of a minute ago', snapshot(60), []],
    ['a snapshot of six minutes ago', snapshot(360), ['reserves']],
    ['nodes that do not respond', { gas: [{ network: 'base-mainnet' }] }, ['gas']],
    ['199 settlements', { gas: [{ network: 'base-mainnet', balance: 1n, settlementsLeft: 199 }] }, ['gas']],
    ['200 settlements', { gas: [{ network: 'base-mainnet', balance: 1n, settlementsLeft: 200 }] }, []],
    ['many new jobs', { jobs: { waiting: 500, oldestSeconds: 3, running: 9, failing: 0 } }, []],
    ['a failing job', { jobs: { waiting: 1, oldestSeconds: 3, running: 0, failing: 1 } }, ['jobs']],
    ['an old change', { statistics: { changes: 1, oldestSeconds: 61 } }, ['statistics']],
    ['dropped webhooks', { dropped: [{ agentId: 'agt_1', count: 7 }] }, []],
  ])('%s', (_, facts, waiting) => {
    expect(presentOverview({ ...CALM, ...facts }).waiting).toEqual(waiting)
  })
})

test('presentOverview: sums disputes by network, and lists the 20 that are unchanged for longest', () => {
  const disputes = Array.from({ length: 30 }, (_, n) => ({
    id: `ord_${n}` as const,
    network: n % 2 === 0 ? ('base-mainnet' as const) : ('solana-mainnet' as const),
    price: usdc(1_000_000n),
    updatedAt: secondsAgo(100 - n),
  }))
  const presented = presentOverview({ ...CALM, disputes }).disputes
  expect(presented).toMatchObject({ count: 30, at_least: false })
  expect(presented.networks).toEqual([
    { network: 'base-mainnet', count: 15, amount_usd: '15.00', oldest_at: secondsAgo(100).toISOString() },
    { network: 'solana-mainnet', count: 15, amount_usd: '15.00', oldest_at: secondsAgo(99).toISOString() },
  ])
  expect(presented.order_ids).toEqual(disputes.slice(0, 20).map(({ id }) => id))
})
