import { expect, test } from 'vitest'
import { alignColumns, duration, type Overview, printOverview } from './print-overview.ts'

const nothing = { count: 0, at_least: false, acts: [] }

const CALM: Overview = {
  at: '2026-03-02T12:00:00.000Z',
  waiting: [],
  disputes: { ...nothing, networks: [], order_ids: [] },
  contests: { ...nothing, for_arbiter: 0, oldest_at: null },
  held_payouts: { ...nothing, groups: [] },
  failed_payouts: { ...nothing, groups: [] },
  unmatched_transfers: { ...nothing, groups: [] },
  dropped_webhooks: { ...nothing, agents: 0, most: [] },
  gas: { networks: [], acts: [] },
  reserves: { networks: [], acts: [] },
  jobs: { ...nothing, oldest_seconds: 0, failing: 0 },
  statistics: { ...nothing, oldest_seconds: 0 },
  approvals: { ...nothing, oldest_at: null, next_expiry_at: null },
  switches: { on: [], acts: [] },
}

test('printOverview: says that nothing waits, and lists every block', () => {
  const text = printOverview(CALM)
  expect(text).toMatch(/^Nothing waits for you/)
  expect(text).toMatch(/^ {3}disputes +0$/m)
  expect(text).not.toContain('To act:')
})

test('printOverview: marks what waits, with sums, ages and the command that resolves it', () => {
  const group = {
    network: 'base-mainnet',
    count: 1_000,
    amount_usd: '5.00',
    oldest_at: '2026-02-27T12:00:00.000Z',
    hold_code: null,
  } as const
  const retry = {
    operation: 'retryAnyPayout',
    method: 'POST',
    path: '/api/admin/payouts/{payout_id}/retry',
  }
  const text = printOverview({
    ...CALM,
    waiting: ['failed_payouts'],
    failed_payouts: { count: 1_000, at_least: true, groups: [group], acts: [retry] },
  })
  expect(text).toMatch(/^Waits for you: failed_payouts/)
  expect(text).toMatch(/^! {2}failed_payouts +1000\+$/m)
  expect(text).toMatch(/1000 +base-mainnet +5\.00 USD +oldest 3 d$/m)
  expect(text).toContain('npm run admin -- call retryAnyPayout payout_id=… reason=…')
})

test.each([
  [8, '8 s'],
  [60, '1 min'],
  [7_199, '1 h'],
  [200_000, '2 d'],
])('duration: %i seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text)
})

test('alignColumns: pads every column to its longest cell', () => {
  expect(
    alignColumns([
      ['a', 'b'],
      ['long', ''],
    ]),
  ).toEqual(['a     b', 'long'])
})
