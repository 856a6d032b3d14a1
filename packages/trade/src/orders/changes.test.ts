import { DAY, HOUR, later, MINUTE } from '@market/kernel/clock'
import { type AgentId, idSource, type ListingId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { testClock } from '@market/testing/clock'
import { describe, expect, test } from 'vitest'
import {
  accept,
  cancel,
  complete,
  confirmPayer,
  declineRevision,
  deliver,
  dispute,
  expire,
  lapse,
  pay,
  quote,
  rejectEarlyCancel,
  rejectExpiredPrice,
  revise,
  start,
  undo,
  undoCancelled,
} from './changes.ts'
import { newOrder } from './create-order.ts'
import { bare, contestAt, dueAt, isExtra, purposeOf } from './order.ts'
import { policyOf } from './policy.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const PRICE = usdc(25_000_000n)
const PAYMENT = { network: 'base-mainnet', reference: '0xabc' } as const
const PENDING = PAYMENT
const TURNAROUND_HOURS = 3

const clock = testClock(NOW)
const asked = newOrder(
  { clock, ids: idSource(clock) },
  'user:1',
  {
    listingId: 'svc_1' as ListingId,
    bountyId: null,
    agentId: 'agt_1' as AgentId,
    title: 'Reviews a pull request',
    priceType: 'fixed',
    turnaroundHours: TURNAROUND_HOURS,
    maxRevisions: 1,
    quotaTotal: 0,
  },
  {
    brief: 'Review the branch called blue.',
    referenceUrls: [],
    referenceImages: [],
    requirementAnswers: {},
    isPrivate: false,
    clientWallet: null,
  },
)
const core = bare(asked)
const quoted = quote(asked, PRICE, { until: null, message: 'As agreed' })
const accepted = accept(quoted, NOW)
const paid = pay(accepted, PAYMENT, NOW)
const started = start(paid)
const delivered = deliver(started, NOW)
const revision = revise(delivered, 'A little more blue', NOW)
const disputed = dispute(delivered, 'It is not blue', NOW)
const completed = complete(delivered, NOW)

describe('a price', () => {
  test('quote: sets the price, its end and its message', () => {
    const until = later(NOW, HOUR)
    expect(quote(asked, PRICE, { until, message: null })).toEqual({
      ...core,
      status: 'quoted',
      price: PRICE,
      priceUntil: until,
      quoteMessage: null,
    })
  })

  test('accept: holds the price for a day', () => {
    expect(accepted.priceUntil).toEqual(later(NOW, DAY))
  })

  test('accept: never shortens an offer that holds longer', () => {
    const until = later(NOW, 3 * DAY)
    expect(accept({ ...quoted, priceUntil: until }, NOW).priceUntil).toEqual(until)
  })

  test('accept: an accepted order that gets another payment keeps the end of its price', () => {
    const again = accept(accepted, later(NOW, HOUR), PENDING)
    expect(again).toMatchObject({ priceUntil: accepted.priceUntil, pending: PENDING, paymentError: null })
  })

  test('expire: removes the price; lapse: keeps a listed price without an end', () => {
    expect(expire(accepted)).toEqual(asked)
    expect(lapse(accepted)).toEqual({ ...quoted, priceUntil: null })
  })

  test.each([
    ['before its end', -1, false],
    ['at its end', 0, true],
    ['after its end', 1, true],
  ])('rejectExpiredPrice: a pay request %s', (_, ms, isRejected) => {
    const at = later(later(NOW, DAY), ms)
    const check = () => rejectExpiredPrice(accepted, at)
    if (!isRejected) return expect(check).not.toThrow()
    expect(check).toThrow(expect.objectContaining({ extra: { code: 'price_expired' } }))
  })
})

describe('a payment', () => {
  test('pay: starts the turnaround and ends the price lock', () => {
    expect(paid).toMatchObject({
      status: 'paid',
      payment: PAYMENT,
      paidAt: NOW,
      deliverBy: later(NOW, TURNAROUND_HOURS * HOUR),
      priceUntil: null,
    })
    expect(paid).not.toHaveProperty('pending')
  })

  test.each([paid, started, delivered, revision, disputed, completed])(
    'undo: an order that is $status is accepted again at its price, without anything of the payment',
    (order) => {
      const undone = undo(order, NOW, 'The chain undid it')
      expect(undone).toMatchObject({
        status: 'accepted',
        price: PRICE,
        priceUntil: later(NOW, DAY),
        pending: null,
        paymentError: 'The chain undid it',
      })
      for (const field of ['payment', 'paidAt', 'deliverBy', 'deliveredAt', 'closedAt', 'outcome'])
        expect(undone).not.toHaveProperty(field)
    },
  )

  test('undoCancelled: a refund without its money waits for the transfer, and stays cancelled', () => {
    const cancelled = cancel(paid, NOW)
    expect(undoCancelled(cancelled, PENDING)).toMatchObject({
      status: 'cancelled',
      outcome: 'unpaid',
      pending: PENDING,
      price: PRICE,
    })
  })
})

describe('a delivery', () => {
  test.each([paid, started, revision])(
    'deliver: the first one from $status is reviewed for 48 h',
    (order) => {
      expect(deliver(order, NOW).reviewEndsAt).toEqual(later(NOW, 2 * DAY))
    },
  )

  test('deliver: a replacement leaves at least 24 h, and does not shorten the review', () => {
    expect(deliver(delivered, later(NOW, HOUR)).reviewEndsAt).toEqual(later(NOW, 2 * DAY))
    const late = later(NOW, 47 * HOUR)
    expect(deliver(delivered, late).reviewEndsAt).toEqual(later(late, DAY))
  })

  test('deliver: ending a dispute restores the remaining review time, at least 24 h', () => {
    expect(disputed.reviewLeftMs).toBe(2 * DAY)
    expect(deliver(disputed, later(NOW, 10 * DAY)).reviewEndsAt).toEqual(later(NOW, 12 * DAY))
    const late = dispute(delivered, 'It is not blue', later(NOW, 47 * HOUR))
    expect(deliver(late, later(NOW, 10 * DAY)).reviewEndsAt).toEqual(later(NOW, 11 * DAY))
  })

  test('revise: counts the revision, stops the review and restarts the turnaround', () => {
    const at = later(NOW, 2 * HOUR)
    expect(revise(delivered, 'A little more blue', at)).toMatchObject({
      revisionCount: 1,
      complaint: 'A little more blue',
      reviewLeftMs: 46 * HOUR,
      deliverBy: later(at, TURNAROUND_HOURS * HOUR),
    })
  })

  test('declineRevision: rejects a revision that the price includes', () => {
    expect(isExtra(revision)).toBe(false)
    expect(() => declineRevision(revision, NOW)).toThrow(
      expect.objectContaining({ extra: { code: 'revision_included' } }),
    )
  })

  test('declineRevision: restores the remaining review time', () => {
    const at = later(NOW, DAY)
    const extra = revise({ ...delivered, revisionCount: 1 }, 'More', at)
    expect(declineRevision(extra, later(NOW, 5 * DAY)).reviewEndsAt).toEqual(later(NOW, 6 * DAY))
  })

  test('dispute: no review time remains after the review ended', () => {
    expect(dispute(delivered, 'Late', later(NOW, 3 * DAY)).reviewLeftMs).toBe(0)
  })

  test('confirmPayer: ends the contest and gives the agent back the time that it took', () => {
    const contested = { ...paid, payerProven: false, payoutWaitsUntil: later(NOW, DAY) }
    const order = { ...contested, contest: contestAt(NOW, false) }
    expect(order.contest).toEqual({ at: NOW, endsAt: later(NOW, 7 * DAY) })
    expect(dueAt(order)).toEqual(order.contest.endsAt)
    expect(confirmPayer(order, later(NOW, 3 * DAY))).toMatchObject({
      status: 'paid',
      payerProven: true,
      payoutWaitsUntil: null,
      contest: null,
      deliverBy: later(paid.deliverBy, 3 * DAY),
    })
  })

  test('contestAt: a contest after the delivery has no end', () => {
    expect(contestAt(NOW, true)).toEqual({ at: NOW, endsAt: null })
  })
})

describe('the end', () => {
  test('complete: closes the order with its outcome', () => {
    expect(completed).toMatchObject({
      closedAt: NOW,
      outcome: 'released',
      agentPart: PRICE,
      payment: PAYMENT,
    })
    expect(complete(disputed, NOW, usdc(1n))).toMatchObject({ outcome: 'split', agentPart: 1n })
  })

  test.each([asked, quoted, accepted])('cancel: an order that is $status ends unpaid', (order) => {
    expect(cancel(order, NOW)).toMatchObject({ status: 'cancelled', outcome: 'unpaid', closedAt: NOW })
  })

  test.each([paid, started, revision, disputed])(
    'cancel: an order that is $status ends refunded',
    (order) => {
      expect(cancel(order, NOW)).toMatchObject({ outcome: 'refunded', payment: PAYMENT, pending: null })
    },
  )

  test('cancel: a payment under way stays known, so that it is refunded when it arrives', () => {
    expect(cancel(accept(quoted, NOW, PENDING), NOW).pending).toEqual(PENDING)
  })

  test.each([
    ['in_progress', 'buyer', -1, 'not_late_yet'],
    ['in_progress', 'buyer', 0, undefined],
    ['in_progress', 'provider', -1, undefined],
    ['revision_requested', 'buyer', -1, 'not_late_yet'],
    ['revision_requested', 'buyer', 0, undefined],
    ['revision_requested', 'provider', 0, 'delivered_before'],
    ['revision_requested', 'owner', 0, 'delivered_before'],
    ['paid', 'buyer', -1, undefined],
  ] as const)('rejectEarlyCancel: %s, by the %s, %i ms from the deadline: %s', (status, role, ms, code) => {
    const order = { paid, in_progress: started, revision_requested: revision }[status]
    const check = () => rejectEarlyCancel(order, role, later(order.deliverBy, ms))
    if (code === undefined) return expect(check).not.toThrow()
    expect(check).toThrow(expect.objectContaining({ extra: { code } }))
  })
})

describe('dueAt', () => {
  test('a price ends at its time, unless a payment is under way', () => {
    expect(dueAt(quoted)).toBeNull()
    expect(dueAt(accepted)).toEqual(accepted.priceUntil)
    expect(dueAt(accept(quoted, NOW, PENDING))).toBeNull()
  })

  test.each([paid, started, revision])('$status is refunded a day after its deadline', (order) => {
    expect(dueAt(order)).toEqual(later(order.deliverBy, DAY))
  })

  test('an x402 order is refunded at its deadline', () => {
    expect(dueAt({ ...paid, paymentMethod: 'x402' })).toEqual(paid.deliverBy)
  })

  test('a delivery is released when its review ends', () => {
    expect(dueAt(delivered)).toEqual(delivered.reviewEndsAt)
  })

  test.each([asked, disputed, completed, cancel(paid, NOW)])('$status waits for nothing', (order) => {
    expect(dueAt(order)).toBeNull()
  })
})

test('purposeOf: names the order', () => {
  expect(purposeOf(core)).toEqual({ kind: 'order', id: core.id })
})

test('earliestPayment: a minute before the order; no limit for an x402 order, which its payment creates', () => {
  expect(policyOf(core).earliestPayment(core.createdAt)).toEqual(new Date(NOW.getTime() - MINUTE))
  expect(
    policyOf({ paymentMethod: 'x402', forPrincipal: false }).earliestPayment(core.createdAt) <
      new Date('2000-01-01'),
  ).toBe(true)
})
