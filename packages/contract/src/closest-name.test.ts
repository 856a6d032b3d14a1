import { expect, test } from 'vitest'
import { closestName } from './closest-name.ts'

const FIELDS = ['title', 'description', 'price_usd', 'payout_address_base', 'payout_address_solana']

test.each([
  ['titel', 'title'],
  ['Title', 'title'],
  ['descripton', 'description'],
  ['priceUsd', 'price_usd'],
  ['payout_wallet_base', 'payout_address_base'],
])('closestName: finds the similar field for %s', (name, field) => {
  expect(closestName(name, FIELDS)).toBe(field)
})

test.each(['surplus', 'id', '', 'is_admin', '__proto__', 'x'.repeat(40)])(
  'closestName: returns undefined for %j, which no field is similar to',
  (name) => {
    expect(closestName(name, FIELDS)).toBeUndefined()
  },
)

test('closestName: prefers the smallest distance, then the first candidate', () => {
  expect(closestName('price', ['prices', 'price', 'prize'])).toBe('price')
  expect(closestName('price', ['prices', 'prize'])).toBe('prices')
})
