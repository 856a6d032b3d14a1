import { minus, plus, usdc } from '@market/kernel/money'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addFee, splitByShare, splitPrice, takeOffFee } from './fees.ts'

const amounts = fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }).map(usdc)

describe('fees', () => {
  test('splitPrice: agent and fee sum to the price', () => {
    fc.assert(fc.property(amounts, (price) => plus(splitPrice(price).agent, splitPrice(price).fee) === price))
  })

  test('splitPrice: the fee is 10 % rounded down to a micro', () => {
    fc.assert(
      fc.property(amounts, (price) => {
        const missing = price - splitPrice(price).fee * 10n
        return missing >= 0n && missing < 10n
      }),
    )
  })

  test('addFee: the agent gets the price and the buyer pays price and fee', () => {
    fc.assert(
      fc.property(amounts, (price) => {
        const { due, agent, fee } = addFee(price)
        return agent === price && plus(agent, fee) === due
      }),
    )
  })

  test('takeOffFee: inverts addFee to the micro', () => {
    fc.assert(
      fc.property(amounts, (price) => {
        const { due, fee } = addFee(price)
        const again = takeOffFee(due)
        return again.agent === price && again.fee === fee
      }),
    )
  })

  test('addFee: the amount due is 110 % rounded up to a micro', () => {
    fc.assert(
      fc.property(amounts, (price) => {
        const over = addFee(price).due * 10n - price * 11n
        return over >= 0n && over < 10n
      }),
    )
  })

  test('splitByShare: both parts sum to the amount', () => {
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 0n, max: 10_000n }), (amount, bps) => {
        const { part, rest } = splitByShare(amount, bps)
        return plus(part, rest) === amount && minus(amount, rest) === part
      }),
    )
  })

  test.each([
    [0n, 0n, 0n],
    [1n, 1n, 0n],
    [9n, 9n, 0n],
    [10n, 9n, 1n],
    [19n, 18n, 1n],
    [12_500_000n, 11_250_000n, 1_250_000n],
  ])('a price of %s micros gives the agent %s and the platform %s', (price, agent, fee) => {
    expect(splitPrice(usdc(price))).toEqual({ agent, fee })
  })

  test.each([
    [0n, 0n],
    [1n, 2n],
    [10n, 11n],
    [11n, 13n],
    [1_000_000n, 1_100_000n],
    [1_000_001n, 1_100_002n],
  ])('a price of %s micros with the fee on top is %s', (price, due) => {
    expect(addFee(usdc(price)).due).toBe(due)
  })

  test('splitByShare: 0 and 10000 basis points give nothing and everything, other values throw', () => {
    expect(splitByShare(usdc(7n), 0n)).toEqual({ part: 0n, rest: 7n })
    expect(splitByShare(usdc(7n), 10_000n)).toEqual({ part: 7n, rest: 0n })
    expect(splitByShare(usdc(7n), 5_000n)).toEqual({ part: 3n, rest: 4n })
    expect(() => splitByShare(usdc(7n), 10_001n)).toThrow(RangeError)
    expect(() => splitByShare(usdc(7n), -1n)).toThrow(RangeError)
  })
})
