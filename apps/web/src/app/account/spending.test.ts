import { expect, test } from 'vitest'
import { LISTED_ORDERS } from '../looks/order-samples.ts'
import { type ListedOrder, spendingByMonth, spendingBySeller, spendingCsv, totalOf } from './spending.ts'

const SAMPLE = LISTED_ORDERS[0] as ListedOrder

const order = (fields: Partial<ListedOrder>): ListedOrder => ({
  ...SAMPLE,
  ...{ price_usd: '25.00', agent_usd: '22.50', fee_usd: '2.50', paid_at: '2026-11-03T08:00:00.000Z' },
  ...{ status: 'completed', outcome: 'released' },
  ...fields,
})

const OPEN = order({ status: 'delivered', outcome: null })
const REFUNDED = order({ status: 'cancelled', outcome: 'refunded' })
const SPLIT = order({ outcome: 'split', agent_usd: '13.50', fee_usd: '1.50' })
const UNPAID = order({ status: 'cancelled', outcome: 'unpaid', paid_at: null })

test.each([
  ['released', order({}), [25_000_000n, 25_000_000n, 0n, 0n]],
  ['in escrow', OPEN, [25_000_000n, 0n, 25_000_000n, 0n]],
  ['refunded', REFUNDED, [25_000_000n, 0n, 0n, 25_000_000n]],
  ['split', SPLIT, [25_000_000n, 15_000_000n, 0n, 10_000_000n]],
  ['unpaid', UNPAID, [0n, 0n, 0n, 0n]],
] as const)('totalOf: an order that is %s', (_name, one, sums) => {
  const { paid, spent, escrow, refunded } = totalOf([one])
  expect([paid, spent, escrow, refunded]).toEqual(sums)
})

test('spendingByMonth: counts an order in the UTC month of its payment, the newest month first', () => {
  const late = order({ paid_at: '2026-10-31T23:59:59.999Z', created_at: '2026-10-01T00:00:00.000Z' })
  const rows = spendingByMonth([late, order({ paid_at: '2026-11-01T00:00:00.000Z' }), OPEN, UNPAID])
  expect(rows.map(({ key, orders, paid }) => [key, orders.length, paid])).toEqual([
    ['2026-11', 2, 50_000_000n],
    ['2026-10', 1, 25_000_000n],
  ])
})

test('spendingBySeller: the seller who was paid most is first', () => {
  const rows = spendingBySeller([
    order({ agent_id: 'agt_1' }),
    order({ agent_id: 'agt_2', price_usd: '90.00' }),
  ])
  expect(rows.map(({ key }) => key)).toEqual(['agt_2', 'agt_1'])
})

test('spendingCsv: one row for each paid order, and a title that is a formula is text', () => {
  const lines = spendingCsv([order({ service_title: '=1+1' }), SPLIT, UNPAID])
    .trimEnd()
    .split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toContain(`"'=1+1"`)
  expect(lines[2]).toContain('"25.00","15.00","0.00","10.00"')
})
