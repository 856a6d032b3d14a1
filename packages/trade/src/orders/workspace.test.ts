import { DAY, later, MINUTE } from '@market/kernel/clock'
import { type AgentId, idSource, type ListingId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { testClock } from '@market/testing/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { confirmPayer, deliver, finish, pay, quote, rejectEarlyCancel, start } from './changes.ts'
import { newOrder } from './create-order.ts'
import { type Core, contestAt, dueAt, type Order, type PriceType } from './order.ts'
import { completeUnit, earnedPart, isUsedUp, quotaOf, returnUnit, takeUnit } from './workspace.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const clock = testClock(NOW)
const asked = (fields: Partial<Core> = {}): Order<'pending_quote'> => ({
  ...newOrder(
    { clock, ids: idSource(clock) },
    'user:1',
    {
      ...{ listingId: 'svc_1' as ListingId, bountyId: null, agentId: 'agt_1' as AgentId, title: 'Draws' },
      ...{ priceType: 'weekly', turnaroundHours: 3, maxRevisions: 1, quotaTotal: 3 },
    },
    {
      ...{ brief: '', referenceUrls: [], referenceImages: [], requirementAnswers: {} },
      ...{ isPrivate: false, clientWallet: null },
    },
  ),
  ...fields,
})

const opened = (fields: Partial<Core> = {}): Order<'in_progress'> => {
  const quoted = quote(asked(fields), usdc(1_000_000n), { until: null, message: null })
  return start(pay(quoted, { network: 'base-mainnet', reference: '0xabc' }, NOW))
}

const rejected = (code: string) => expect.objectContaining({ extra: { code } })

const take = (order: Order<'in_progress'>, at = NOW) => takeUnit(order, at, later(at, 10 * MINUTE))

describe('quotaOf', () => {
  test.each([
    ['fixed', 4, 4],
    ['fixed', 0, 0],
    ['weekly', 4, 4],
    ['monthly', 4, 4],
    ['quote', 4, 0],
  ] as const)('%s with a limit of %s: %s', (priceType, quotaLimit, quota) => {
    expect(quotaOf({ priceType, quotaLimit })).toBe(quota)
  })
})

describe('pay', () => {
  test.each([
    ['fixed', DAY],
    ['weekly', 7 * DAY],
    ['monthly', 30 * DAY],
  ] as const satisfies readonly (readonly [PriceType, number])[])('%s: open for %s ms', (priceType, ms) => {
    const order = opened({ priceType })
    expect([order.workspaceEndsAt, order.deliverBy, dueAt(order)]).toEqual(Array(3).fill(later(NOW, ms)))
  })

  test('without a quota: the turnaround time, and no workspace', () => {
    const order = opened({ priceType: 'fixed', quotaTotal: 0 })
    expect([order.workspaceEndsAt, order.deliverBy]).toEqual([null, later(NOW, 3 * 60 * MINUTE)])
  })
})

describe('the quota', () => {
  test('a request takes a unit; completed it is used, failed it is returned', () => {
    const one = take(opened())
    expect(one).toMatchObject({ quotaUsed: 1, quotaPending: 1 })
    expect(completeUnit(one)).toMatchObject({ quotaUsed: 1, quotaPending: 0 })
    expect(returnUnit(one)).toMatchObject({ quotaUsed: 0, quotaPending: 0, quotaFailed: 1 })
    expect(returnUnit(one, false)).toMatchObject({ quotaUsed: 0, quotaPending: 0, quotaFailed: 0 })
    expect(returnUnit(completeUnit(one))).toMatchObject({ quotaUsed: 1, quotaPending: 0 })
  })

  test('409 quota_used_up while every unit is used or waiting', () => {
    const all = take(take(take(opened())))
    expect(() => take(all)).toThrow(rejected('quota_used_up'))
    expect(isUsedUp(all)).toBe(false)
    expect(isUsedUp(completeUnit(completeUnit(completeUnit(all))))).toBe(true)
  })

  test('for any sequence of requests and answers: 0 ≤ pending ≤ used ≤ total', () => {
    const step = fc.constantFrom('take', 'complete', 'return')
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let order = opened()
        for (const one of steps) {
          if (one === 'take' && order.quotaUsed < order.quotaTotal) order = take(order)
          if (one === 'complete' && order.quotaPending > 0) order = completeUnit(order)
          if (one === 'return') order = returnUnit(order)
          const { quotaTotal, quotaUsed, quotaPending } = order
          expect(quotaPending).toBeGreaterThanOrEqual(0)
          expect(quotaUsed).toBeGreaterThanOrEqual(quotaPending)
          expect(quotaTotal).toBeGreaterThanOrEqual(quotaUsed)
        }
      }),
    )
  })
})

describe('earnedPart', () => {
  test('for any counts: at most the price, all of it when nothing failed, nothing when everything failed', () => {
    const count = fc.nat({ max: 1_000 })
    const micros = fc.bigInt(1n, 1_000_000_000_000n)
    fc.assert(
      fc.property(micros, count, count, count, (price, completed, failed, pending) => {
        const counts = { quotaUsed: completed + pending, quotaPending: pending, quotaFailed: failed }
        const part = earnedPart({ ...opened(), ...counts, price: usdc(price) })
        const asked = BigInt(completed + pending + failed)
        if (asked === 0n || BigInt(completed) === asked) {
          expect(part).toBe(price)
          return
        }
        expect(part * asked).toBeLessThanOrEqual(price * BigInt(completed))
        expect((part + 1n) * asked).toBeGreaterThan(price * BigInt(completed))
      }),
    )
  })
})

describe('the end', () => {
  test('409 workspace_ended at the end; a request just before it keeps the order open until its deadline', () => {
    const order = opened()
    const end = order.workspaceEndsAt ?? expect.unreachable('it has an end')
    expect(() => take(order, end)).toThrow(rejected('workspace_ended'))
    const before = later(end, -1)
    const late = take(order, before)
    expect([late.workspaceEndsAt, dueAt(late)]).toEqual([end, later(before, 10 * MINUTE)])
  })

  test('finish: what is pending then has failed', () => {
    const order = finish(take(completeUnit(take(opened()))), NOW)
    expect(order).toMatchObject({ status: 'delivered', quotaUsed: 1, quotaPending: 0, deliveredAt: NOW })
  })

  test('400 workspace_open: deliver, and cancel by the buyer; the agent may cancel', () => {
    const open = rejected('workspace_open')
    expect(() => deliver(opened(), NOW)).toThrow(open)
    expect(() => rejectEarlyCancel(opened(), 'buyer', NOW)).toThrow(open)
    expect(() => rejectEarlyCancel(opened(), 'provider', NOW)).not.toThrow()
  })

  test('confirm_payer: the buyer gets back the time for which the payment was contested', () => {
    const contested = { ...opened({ payerProven: false }), contest: contestAt(NOW, false) }
    const order = confirmPayer(contested, later(NOW, DAY))
    expect([order.workspaceEndsAt, order.deliverBy]).toEqual(Array(2).fill(later(NOW, 8 * DAY)))
  })
})
