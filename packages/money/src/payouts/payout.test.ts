import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { earlyReason } from './hold-reason.ts'
import { type Gate, NOT_COMPARED, NOT_COUNTED, shutReason } from './outgoing/guard.ts'
import { isAsOwed, judge, type TransferMatch } from './outgoing/outgoing-transfer.ts'
import { hasEnded, isWaiting, orderOf, type Payout, type PayoutState, payoutIdOf } from './payout.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const PAYEE = `0x${'Ab'.repeat(20)}`

const payout: Payout = {
  id: payoutIdOf('payout', 'ord_1'),
  network: 'base-mainnet',
  kind: 'payout',
  subject: 'ord_1',
  purpose: null,
  payee: PAYEE,
  amount: usdc(5_000_000n),
  state: 'queued',
  reason: null,
  nonce: null,
  round: 2,
  finalReference: null,
  toldAgent: null,
  notBefore: null,
  createdAt: NOW,
  updatedAt: NOW,
}

const sighting: TransferMatch = {
  network: 'base-mainnet',
  reference: '0xabc',
  payoutId: payout.id,
  payee: PAYEE.toLowerCase(),
  amount: payout.amount,
  final: false,
  bookedAt: null,
  namedIn: null,
} as TransferMatch

describe('payoutIdOf', () => {
  test('the same kind and subject have the same id, whoever asks', () => {
    expect(payoutIdOf('payout', 'ord_1')).toBe(payout.id)
    expect(payout.id).toMatch(/^pay_[0-9a-z]{32}$/)
  })

  test('another kind or subject has another id', () => {
    const ids = [payout.id, payoutIdOf('refund', 'ord_1'), payoutIdOf('payout', 'ord_2')]
    expect(new Set(ids).size).toBe(3)
  })
})

test.each([
  ['queued', true, false],
  ['held', true, false],
  ['numbered', false, false],
  ['signed', false, false],
  ['final', false, true],
  ['failed', false, true],
  ['withdrawn', false, true],
] satisfies [PayoutState, boolean, boolean][])(
  'a payout that is %s: waits %s, has ended %s',
  (state, waits, ended) => {
    expect([isWaiting({ ...payout, state }), hasEnded({ ...payout, state })]).toEqual([waits, ended])
  },
)

test('orderOf: a payout without an address cannot be signed', () => {
  expect(orderOf(payout)).toEqual({ payoutId: payout.id, to: PAYEE, amount: payout.amount })
  expect(() => orderOf({ ...payout, payee: null })).toThrow()
})

test('earlyReason: a payout waits until its time, to the millisecond', () => {
  const at = (ms: number) => earlyReason({ ...payout, notBefore: NOW }, new Date(NOW.getTime() + ms))
  expect(earlyReason(payout, NOW)).toBeUndefined()
  expect(at(-1)).toContain(NOW.toISOString())
  expect(at(0)).toBeUndefined()
})

describe('shutReason', () => {
  const gate: Gate = {
    network: 'base-mainnet',
    database_epoch: '1',
    isCurrentEpoch: true,
    horizon: 1n,
    position: null,
    comparedAt: NOW,
    readAt: NOW,
    isCounted: true,
    short: usdc(0n),
  }

  test.each([
    ['no comparison at all', undefined, NOT_COMPARED],
    ['a comparison of another database epoch', { ...gate, isCurrentEpoch: false }, NOT_COMPARED],
    ['a comparison that is not finished', { ...gate, comparedAt: null }, NOT_COMPARED],
    ['a treasury that was not counted', { ...gate, isCounted: false }, NOT_COUNTED],
    ['a shortage', { ...gate, short: usdc(1_500_000n) }, 'The treasury is short by 1.50 USDC'],
    ['everything in order', gate, undefined],
  ])('%s', (_, given, reason) => {
    expect(shutReason(given)).toBe(reason)
  })
})

describe('isAsOwed', () => {
  test('EVM addresses are compared in any case', () => {
    expect(isAsOwed(payout, sighting)).toBe(true)
  })

  test.each([
    ['amount', { amount: usdc(5_000_001n) }],
    ['payee', { payee: `0x${'c'.repeat(40)}` }],
    ['network', { network: 'alt-mainnet' as const }],
    ['nobody', { payee: null }],
  ])('another %s is not what is owed', (_, change) => {
    expect(isAsOwed(payout, { ...sighting, ...change } as TransferMatch)).toBe(false)
  })

  test('Solana addresses are compared exactly', () => {
    const solana = { ...payout, network: 'solana-mainnet' as const, payee: 'AbC' }
    expect(isAsOwed(solana, { ...sighting, network: 'solana-mainnet', payee: 'abc' } as TransferMatch)).toBe(
      false,
    )
  })
})

describe('judge', () => {
  const wrong = { ...sighting, amount: usdc(1n), reference: '0xwrong' } as TransferMatch

  test('nothing on the chain means nothing', () => {
    expect(judge(payout, [])).toEqual({ kind: 'nothing' })
  })

  test('a transfer that this round signed is settled by the round itself', () => {
    expect(judge(payout, [{ ...sighting, namedIn: payout.round }, wrong])).toEqual({ kind: 'nothing' })
  })

  test('an unknown transfer that pays what is owed is recovered, the final one first', () => {
    const final = { ...sighting, reference: '0xfinal', final: true } as TransferMatch
    expect(judge(payout, [sighting])).toEqual({ kind: 'lost', sending: sighting })
    expect(judge(payout, [sighting, final])).toEqual({ kind: 'lost', sending: final })
  })

  test('a transfer that pays something else holds the payout, even beside the right one', () => {
    expect(judge(payout, [sighting, wrong])).toMatchObject({
      kind: 'strange',
      why: expect.stringContaining('0xwrong'),
    })
  })

  test('a transfer that an earlier round signed holds the payout', () => {
    expect(judge(payout, [{ ...sighting, namedIn: 1 }])).toMatchObject({ kind: 'strange' })
  })

  test('a wrong transfer that was written off holds nothing; the right one cannot be written off', () => {
    expect(judge(payout, [{ ...wrong, bookedAt: NOW }])).toEqual({ kind: 'nothing' })
    expect(judge(payout, [{ ...sighting, bookedAt: NOW }])).toMatchObject({ kind: 'lost' })
  })
})
