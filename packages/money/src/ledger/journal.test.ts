import { usdc } from '@market/kernel/money'
import { NETWORKS } from '@market/kernel/network'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escrow, fees, idOf, payable, stripeFor, stripesOf, surplus, world } from './accounts.ts'
import { type Journal, legsOf, type Move } from './journal.ts'

const BASE = 'base-mainnet'
const journal = (moves: readonly Move[], subject = 'ord_1'): Journal => ({
  key: `test:${subject}`,
  reason: 'test',
  subject,
  network: BASE,
  moves,
})
const seen = (moves: readonly Move[]) =>
  legsOf(journal(moves)).map(({ account, micros }) => [idOf(account), micros])

const held = escrow(BASE, 'ord_1')
const owed = payable(BASE, 'pay_1')
const feesOfOrder = idOf(stripeFor(fees(BASE), 'ord_1'))

test('legsOf: one leg per account, sorted by id, and the legs sum to zero', () => {
  expect(
    seen([
      { from: held, to: owed, amount: usdc(90n) },
      { from: held, to: fees(BASE), amount: usdc(10n) },
    ]),
  ).toEqual([
    ['escrow:base-mainnet:ord_1', -100n],
    [feesOfOrder, 10n],
    ['payable:base-mainnet:pay_1', 90n],
  ])
})

test('legsOf: for any moves the legs sum to zero and no account has two', () => {
  const accounts = fc.constantFrom(held, owed, fees(BASE), world(BASE), surplus(BASE, 'trf_1'))
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 12n }).map(usdc)
  const moves = fc.array(fc.record({ from: accounts, to: accounts, amount: amounts }), { minLength: 1 })
  fc.assert(
    fc.property(moves, (some) => {
      try {
        const legs = legsOf(journal(some))
        expect(legs.reduce((sum, { micros }) => sum + micros, 0n)).toBe(0n)
        const ids = legs.map(({ account }) => idOf(account))
        expect(ids).toEqual([...new Set(ids)].toSorted())
      } catch (error) {
        expect(String(error)).toMatch(/passes money through/)
      }
    }),
  )
})

test('legsOf: leaves out moves of zero and throws when nothing is moved', () => {
  expect(
    seen([
      { from: held, to: owed, amount: usdc(9n) },
      { from: held, to: fees(BASE), amount: usdc(0n) },
    ]),
  ).toHaveLength(2)
  expect(() => seen([{ from: held, to: owed, amount: usdc(0n) }])).toThrow(/moves nothing/)
  expect(() => seen([])).toThrow(/moves nothing/)
})

test('legsOf: throws when the moves of an account sum to zero', () => {
  const through = [
    { from: world(BASE), to: held, amount: usdc(5n) },
    { from: held, to: owed, amount: usdc(5n) },
  ]
  expect(() => seen(through)).toThrow(/passes money through/)
  expect(() => seen([{ from: held, to: held, amount: usdc(5n) }])).toThrow(/passes money through/)
})

test('legsOf: throws for an account of another network', () => {
  const abroad = [{ from: held, to: payable('alt-mainnet', 'pay_1'), amount: usdc(5n) }]
  expect(() => seen(abroad)).toThrow(/on base-mainnet only/)
})

test('stripeFor: a subject always has the same stripe, and many subjects use all stripes', () => {
  for (const network of NETWORKS) {
    const stripes = stripesOf(fees(network)).map(idOf)
    expect(new Set(stripes).size).toBe(8)
    const used = Array.from({ length: 400 }, (_, n) => idOf(stripeFor(fees(network), `ord_${n}`)))
    expect(new Set(used)).toEqual(new Set(stripes))
    expect(stripeFor(fees(network), 'ord_1')).toEqual(stripeFor(fees(network), 'ord_1'))
  }
  expect(stripesOf(held)).toEqual([held])
})
