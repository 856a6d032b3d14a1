import { DAY, HOUR, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { chooseDue, eventOf, NAMINGS, payoutWaitMs } from './rules.ts'

const ALL = ['same', 'same_without_key', 'same_signed', 'other_early', 'other_late', 'other_signed'] as const

describe('NAMINGS', () => {
  test.each([
    ['unbound', ['replay', 'reject', 'confirm', 'contest', 'ask_to_sign', 'replace']],
    ['contested', ['replay', 'reject', 'confirm', 'contest', 'reject_contested', 'replace']],
    ['bound', ['replay', 'reject', 'replay', 'reject', 'reject', 'reject']],
    ['ended', ['replay', 'reject', 'replay', 'reject', 'reject', 'reject']],
  ] as const)('%s: each event has its outcome', (status, outcomes) => {
    expect(ALL.map((event) => NAMINGS[status][event])).toEqual(outcomes)
  })

  test('only a signature of the payer gives the payment to a purchase', () => {
    const unsigned = Object.values(NAMINGS).flatMap((row) => ALL.slice(0, 2).map((event) => row[event]))
    const late = Object.values(NAMINGS).flatMap((row) => [row.other_early, row.other_late])
    expect([...unsigned, ...late]).not.toContain('confirm')
    expect([...unsigned, ...late]).not.toContain('replace')
  })
})

describe('eventOf', () => {
  const naming = { isSame: false, hasKey: true, isSigned: false, ageMs: 0 }
  test.each([
    [{ isSame: true }, 'same'],
    [{ isSame: true, hasKey: false }, 'same_without_key'],
    [{ isSame: true, hasKey: false, isSigned: true }, 'same_signed'],
    [{}, 'other_early'],
    [{ hasKey: false }, 'other_early'],
    [{ ageMs: 15 * MINUTE }, 'other_early'],
    [{ ageMs: 15 * MINUTE + 1 }, 'other_late'],
    [{ ageMs: 30 * DAY, isSigned: true }, 'other_signed'],
  ] as const)('%o is %s', (facts, event) => {
    expect(eventOf({ ...naming, ...facts })).toBe(event)
  })
})

describe('payoutWaitMs', () => {
  const MAX = usdc(25_000_000n)
  test.each([
    [25_000_000n, 3, 24 * HOUR],
    [25_000_001n, 3, 7 * DAY],
    [1_000_000n, 2, 7 * DAY],
    [1_000_000n, 0, 7 * DAY],
  ])('%d micros and %d payers', (due, payers, wait) => {
    expect(payoutWaitMs(usdc(due), payers, MAX)).toBe(wait)
  })
})

describe('chooseDue', () => {
  const choose = (amount: bigint, current: bigint, recent: readonly bigint[]) =>
    chooseDue(usdc(amount), usdc(current), recent.map(usdc))
  test.each([
    ['the current price', 10n, 10n, [], 10n],
    ['more than the current price', 12n, 10n, [], 10n],
    ['less than the current price', 9n, 10n, [], undefined],
    ['exactly an earlier, lower price', 8n, 10n, [8n], 8n],
    ['exactly an earlier, higher price', 12n, 10n, [12n], 12n],
    ['between two earlier prices', 9n, 10n, [5n, 8n], 8n],
    ['below every price', 4n, 10n, [5n, 8n], undefined],
  ] as const)('%s', (_, amount, current, recent, due) => {
    expect(choose(amount, current, recent)).toBe(due)
  })
})
