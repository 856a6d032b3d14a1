import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { type BalancesAfter, certainlyMissing, imbalanceOf, shortage } from './snapshot.ts'

const balances = (changes: Partial<Record<keyof BalancesAfter, bigint>> = {}): BalancesAfter => {
  const merged = { ledger: 100n, inFlight: 0n, settled: 0n, escrow: 60n, payable: 30n, ...changes }
  return {
    ledger: merged.ledger,
    venues: usdc(changes.venues ?? 0n),
    earn: usdc(changes.earn ?? 0n),
    settled: merged.settled,
    inFlight: usdc(merged.inFlight),
    unfinal: usdc(changes.unfinal ?? 0n),
    escrow: usdc(merged.escrow),
    payable: usdc(merged.payable),
    surplus: usdc(changes.surplus ?? 4n),
    suspense: usdc(changes.suspense ?? 3n),
    fees: usdc(changes.fees ?? 3n),
  }
}

describe('certainlyMissing', () => {
  const before = { ledger: 100n, unfinal: 0n, settled: 7n }
  test.each([
    ['chain equals ledger', balances({ settled: 7n }), 100n, 0n],
    ['chain holds more than the ledger', balances({ settled: 7n }), 130n, -30n],
    ['one micro is missing', balances({ settled: 7n }), 99n, 1n],
    [
      'a payment was posted after the chain was read',
      balances({ ledger: 120n, escrow: 80n, settled: 7n }),
      100n,
      0n,
    ],
    ['a payout left and is in flight', balances({ inFlight: 30n, settled: 7n }), 70n, 0n],
    [
      'a payout left and was settled in between',
      balances({ ledger: 70n, payable: 0n, settled: 37n }),
      70n,
      0n,
    ],
    ['a payout was sent twice', balances({ inFlight: 30n, settled: 7n }), 40n, 30n],
    ['a payout failed in between and took nothing', balances({ settled: 7n }), 100n, 0n],
  ])('%s', (_, after, onChain, missing) => {
    expect(certainlyMissing(before, after, onChain)).toBe(missing)
  })
})

test('certainlyMissing: payments that are not final are not expected on the chain', () => {
  const before = { ledger: 100n, unfinal: 30n, settled: 0n }
  expect(certainlyMissing(before, balances({ unfinal: 30n }), 70n)).toBe(0n)
  expect(certainlyMissing(before, balances(), 69n)).toBe(1n)
})

describe('shortage', () => {
  test('equals the missing amount, and is zero when nothing is missing', () => {
    expect(shortage(5n, balances())).toBe(5n)
    expect(shortage(-5n, balances())).toBe(0n)
  })

  test.each([101n, 99n])('is at least the imbalance of the ledger (%d)', (ledger) => {
    expect(imbalanceOf(balances({ ledger }))).toBe(ledger - 100n)
    expect(shortage(-5n, balances({ ledger }))).toBe(1n)
    expect(shortage(9n, balances({ ledger }))).toBe(9n)
  })

  test('counts what is in venues against what is owed to depositors', () => {
    expect(shortage(0n, balances({ venues: 50n, earn: 50n }))).toBe(0n)
    expect(shortage(0n, balances({ venues: 49n, earn: 50n }))).toBe(1n)
    expect(shortage(0n, balances({ ledger: 107n, venues: 43n, earn: 50n }))).toBe(0n)
  })
})
