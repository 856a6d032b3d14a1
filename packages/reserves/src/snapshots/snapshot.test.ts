import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { imbalanceOf, type LedgerBalances, shortage } from './snapshot.ts'

const balances = (changes: Partial<Record<keyof LedgerBalances, bigint>> = {}): LedgerBalances => {
  const merged = { ledger: 100n, inFlight: 0n, escrow: 60n, payable: 30n, ...changes }
  return {
    ledger: merged.ledger,
    venues: usdc(changes.venues ?? 0n),
    earn: usdc(changes.earn ?? 0n),
    inFlight: usdc(merged.inFlight),
    unfinal: usdc(changes.unfinal ?? 0n),
    escrow: usdc(merged.escrow),
    payable: usdc(merged.payable),
    surplus: usdc(changes.surplus ?? 4n),
    suspense: usdc(changes.suspense ?? 3n),
    fees: usdc(changes.fees ?? 3n),
  }
}

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
