import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { type BooksAfter, certainlyMissing, imbalanceOf, shortage } from './snapshot.ts'

const books = (changes: Partial<Record<keyof BooksAfter, bigint>> = {}): BooksAfter => {
  const said = { ledger: 100n, inFlight: 0n, settled: 0n, escrow: 60n, payable: 30n, ...changes }
  return {
    ledger: said.ledger,
    settled: said.settled,
    inFlight: usdc(said.inFlight),
    escrow: usdc(said.escrow),
    payable: usdc(said.payable),
    surplus: usdc(changes.surplus ?? 4n),
    suspense: usdc(changes.suspense ?? 3n),
    fees: usdc(changes.fees ?? 3n),
  }
}

describe('what is certainly missing', () => {
  const before = { ledger: 100n, settled: 7n }
  test.each([
    ['all is there', books({ settled: 7n }), 100n, 0n],
    ['there is more than the books know', books({ settled: 7n }), 130n, -30n],
    ['one micro is not there', books({ settled: 7n }), 99n, 1n],
    [
      'a payment was booked after the chain was asked',
      books({ ledger: 120n, escrow: 80n, settled: 7n }),
      100n,
      0n,
    ],
    ['a payout left, and is still in flight', books({ inFlight: 30n, settled: 7n }), 70n, 0n],
    ['a payout left, and was settled meanwhile', books({ ledger: 70n, payable: 0n, settled: 37n }), 70n, 0n],
    ['a payout left twice', books({ inFlight: 30n, settled: 7n }), 40n, 30n],
    ['a payout was let go of meanwhile, and had taken nothing', books({ settled: 7n }), 100n, 0n],
  ])('%s', (_, after, onChain, missing) => {
    expect(certainlyMissing(before, after, onChain)).toBe(missing)
  })
})

describe('a shortage', () => {
  test('is what is missing, and nothing when nothing is', () => {
    expect(shortage(5n, books())).toBe(5n)
    expect(shortage(-5n, books())).toBe(0n)
  })

  test.each([101n, 99n])('is also what the books disagree by, either way', (ledger) => {
    expect(imbalanceOf(books({ ledger }))).toBe(ledger - 100n)
    expect(shortage(-5n, books({ ledger }))).toBe(1n)
    expect(shortage(9n, books({ ledger }))).toBe(9n)
  })
})
