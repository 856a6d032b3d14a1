import { usdc } from '@market/kernel/money'
import { markOf } from '@market/kernel/payout-mark'
import { describe, expect, test } from 'vitest'
import { contestHold } from './hold.ts'
import { closedBy, type Guard } from './outgoing/guard.ts'
import { compareWithPayout, paysExactly, type TransferMatch } from './outgoing/outgoing-transfer.ts'
import { hasEnded, isWaiting, type Payout, payoutIdOf, senderRequestOf } from './payout.ts'
import type { PayoutState } from './states.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const PAYEE = `0x${'Ab'.repeat(20)}`

const payout: Payout = {
  id: payoutIdOf('payout', 'ord_1'),
  network: 'base-mainnet',
  kind: 'payout',
  subject: 'ord_1',
  purpose: null,
  unmatched: null,
  payee: PAYEE,
  amount: usdc(5_000_000n),
  state: 'queued',
  holdCode: null,
  holdDetail: null,
  reason: null,
  round: 2,
  markRound: 1,
  finalReference: null,
  agentId: null,
  approvalId: null,
  countedAt: null,
  countsAgainstCaps: true,
  opensAccount: false,
  notifiedAgent: null,
  notBefore: null,
  contestedAt: null,
  createdAt: NOW,
  updatedAt: NOW,
}

const match: TransferMatch = {
  network: 'base-mainnet',
  reference: '0xabc',
  mark: markOf('base-mainnet', payout),
  payee: PAYEE.toLowerCase(),
  amount: payout.amount,
  final: false,
  writtenOffAt: null,
  pairedWith: null,
  signedInRound: null,
} as TransferMatch

describe('payoutIdOf', () => {
  test('returns the same id for the same kind and subject', () => {
    expect(payoutIdOf('payout', 'ord_1')).toBe(payout.id)
    expect(payout.id).toMatch(/^pay_[0-9a-z]{32}$/)
  })

  test('returns another id for another kind or subject', () => {
    const ids = [payout.id, payoutIdOf('refund', 'ord_1'), payoutIdOf('payout', 'ord_2')]
    expect(new Set(ids).size).toBe(3)
  })
})

test.each([
  ['queued', true, false],
  ['held', true, false],
  ['signed', false, false],
  ['final', false, true],
  ['failed', false, true],
  ['withdrawn', false, true],
] satisfies [PayoutState, boolean, boolean][])(
  'state %s: isWaiting is %s, hasEnded is %s',
  (state, waits, ended) => {
    expect([isWaiting({ ...payout, state }), hasEnded({ ...payout, state })]).toEqual([waits, ended])
  },
)

test('senderRequestOf: throws for a payout without a payee', () => {
  expect(senderRequestOf(payout)).toEqual({
    mark: markOf('base-mainnet', payout),
    to: PAYEE,
    amount: payout.amount,
    opensAccount: false,
  })
  expect(() => senderRequestOf({ ...payout, payee: null })).toThrow()
})

test('contestHold: holds a payout until notBefore, to the millisecond, and a contested one without an end', () => {
  const at = (ms: number) => contestHold({ ...payout, notBefore: NOW }, new Date(NOW.getTime() + ms))
  expect(contestHold(payout, NOW)).toBeUndefined()
  expect(at(-1)).toEqual({ code: 'contest_window', detail: `until ${NOW.toISOString()}` })
  expect(at(0)).toBeUndefined()
})

describe('closedBy', () => {
  const guard: Guard = {
    network: 'base-mainnet',
    databaseEpoch: '1',
    isCurrentEpoch: true,
    alive: null,
    horizon: 1n,
    comparedAt: NOW,
    isCounted: true,
    short: usdc(0n),
    shortSince: null,
    disagreement: null,
  }

  test.each([
    ['no guard', undefined, 'not_compared'],
    ['a comparison of an earlier epoch', { ...guard, isCurrentEpoch: false }, 'not_compared'],
    ['a comparison that is not finished', { ...guard, comparedAt: null }, 'not_compared'],
    ['a treasury counted in an earlier epoch', { ...guard, isCounted: false }, 'not_counted'],
    ['a shortage', { ...guard, short: usdc(1_500_000n) }, 'treasury_short'],
    ['providers that disagree', { ...guard, disagreement: 'a 1.00, b 2.00' }, 'providers_disagree'],
    ['none of these', guard, undefined],
  ])('%s: %3$s', (_, given, code) => {
    expect(closedBy(given)?.code).toBe(code)
  })
})

describe('paysExactly', () => {
  test('compares EVM addresses without case', () => {
    expect(paysExactly(payout, match)).toBe(true)
  })

  test.each([
    ['amount', { amount: usdc(5_000_001n) }],
    ['payee', { payee: `0x${'c'.repeat(40)}` }],
    ['network', { network: 'alt-mainnet' as const }],
    ['missing payee', { payee: null }],
  ])('is false for another %s', (_, change) => {
    expect(paysExactly(payout, { ...match, ...change } as TransferMatch)).toBe(false)
  })

  test('compares Solana addresses exactly', () => {
    const solana = { ...payout, network: 'solana-mainnet' as const, payee: 'AbC' }
    expect(paysExactly(solana, { ...match, network: 'solana-mainnet', payee: 'abc' } as TransferMatch)).toBe(
      false,
    )
  })
})

describe('compareWithPayout', () => {
  const wrong = { ...match, amount: usdc(1n), reference: '0xwrong' } as TransferMatch

  test('none: the chain shows no transfer', () => {
    expect(compareWithPayout(payout, [])).toEqual({ kind: 'none' })
  })

  test('none: on EVM a signed payout is paid by whoever submits what was signed', () => {
    expect(compareWithPayout({ ...payout, state: 'signed' }, [match, wrong])).toEqual({ kind: 'none' })
  })

  test('none: on Solana the transaction was signed in this round', () => {
    const own = { ...match, network: 'solana-mainnet', signedInRound: payout.round } as TransferMatch
    expect(compareWithPayout({ ...payout, network: 'solana-mainnet' }, [own, wrong])).toEqual({
      kind: 'none',
    })
  })

  test('lost: an unknown transfer pays the payout; a final one is preferred', () => {
    const final = { ...match, reference: '0xfinal', final: true } as TransferMatch
    expect(compareWithPayout(payout, [match])).toEqual({ kind: 'lost', transfer: match })
    expect(compareWithPayout(payout, [match, final])).toEqual({ kind: 'lost', transfer: final })
  })

  test('mismatch: a transfer pays something else, even if another one pays the payout', () => {
    expect(compareWithPayout(payout, [match, wrong])).toEqual({ kind: 'mismatch', reference: '0xwrong' })
  })

  test('mismatch: the transfer was signed in an earlier round', () => {
    expect(compareWithPayout(payout, [{ ...match, signedInRound: 1 }])).toMatchObject({ kind: 'mismatch' })
  })

  test('mismatch: another payment has the mark of a signed payout', () => {
    expect(compareWithPayout({ ...payout, state: 'signed' }, [wrong])).toMatchObject({ kind: 'mismatch' })
  })

  test('burned: the chain has used the mark for a payment that was written off', () => {
    const burned = { ...wrong, writtenOffAt: NOW }
    expect(compareWithPayout(payout, [burned])).toEqual({ kind: 'burned' })
    expect(compareWithPayout({ ...payout, markRound: 2 }, [burned])).toEqual({ kind: 'none' })
    const solana = { ...burned, network: 'solana-mainnet', mark: payout.id } as TransferMatch
    expect(compareWithPayout({ ...payout, network: 'solana-mainnet' }, [solana])).toEqual({ kind: 'none' })
  })

  test('a transfer that pays the payout is lost, also after it was written off', () => {
    expect(compareWithPayout(payout, [{ ...match, writtenOffAt: NOW }])).toMatchObject({ kind: 'lost' })
  })
})
