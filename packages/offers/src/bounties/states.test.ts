import { expect, test } from 'vitest'
import { BOUNTY_TRANSITIONS, CLAIM_TRANSITIONS, rejectUnlessOpen } from './states.ts'

test('states: a bounty can be accepted, cancelled or expire only while it is open', () => {
  for (const action of ['accept', 'cancel', 'expire'] as const) {
    const statuses = Object.entries(BOUNTY_TRANSITIONS).filter(([, next]) => Object.hasOwn(next, action))
    expect(statuses.map(([status]) => status)).toEqual(['open'])
  }
})

test('states: a claim has one outcome', () => {
  const { pending, ...ended } = CLAIM_TRANSITIONS
  expect(Object.values(pending).sort()).toEqual(Object.keys(ended).sort())
  expect(Object.values(ended)).toEqual([{}, {}, {}, {}])
})

test('rejectUnlessOpen: allows a bounty with status open', () => {
  expect(() => rejectUnlessOpen({ status: 'open' })).not.toThrow()
})

test.each([
  ['claimed', 'A claim of this bounty was accepted.'],
  ['completed', 'This bounty is completed.'],
  ['cancelled', 'This bounty was cancelled.'],
  ['expired', 'This bounty has expired.'],
] as const)('rejectUnlessOpen: returns bounty_not_open for a bounty with status %s', (status, message) => {
  const check = () => rejectUnlessOpen({ status })
  expect(check).toThrow(expect.objectContaining({ message, extra: { code: 'bounty_not_open' } }))
})
