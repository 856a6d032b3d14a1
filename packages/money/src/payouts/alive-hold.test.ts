import { expect, test } from 'vitest'
import { replacesAnother } from './alive-hold.ts'
import type { PayoutKind } from './payout.ts'

const KNOWN = new Date('2026-03-01T12:00:00Z')
const LATER = new Date(KNOWN.getTime() + 1)
const alive = { until: new Date('2026-03-01T12:31:00Z'), height: 100n, claimsKnownUntil: KNOWN }
const at = (height: bigint, claimedAt: Date | null = KNOWN) => ({ block: { height, hash: '0x0' }, claimedAt })

test.each<readonly [string, PayoutKind, ReturnType<typeof at> | undefined, boolean]>([
  ['a payout of money that was claimed before', 'payout', at(100n), false],
  ['a payout of older money that was claimed later', 'payout', at(100n, LATER), true],
  ['a payout of later money', 'payout', at(101n, LATER), false],
  ['a refund of older money', 'refund', at(100n), true],
  ['a refund of later money', 'refund', at(101n, LATER), false],
  ['a surplus of older money', 'surplus', at(100n, null), true],
  ['a surplus of later money', 'surplus', at(101n, null), false],
  ['a withdrawal of fees', 'fee_withdrawal', undefined, true],
  ['a move to the cold address', 'move_to_cold', undefined, true],
  ['a move to a venue', 'move_to_venue', undefined, true],
  ['a withdrawal from Earn', 'earn_withdrawal', undefined, true],
])('replacesAnother: %s', (_, kind, paid, expected) => {
  expect(replacesAnother(alive, { kind, notBefore: null }, paid)).toBe(expected)
})

test('replacesAnother: a payout that another caller could contest, of older money only', () => {
  const contestable = { kind: 'payout', notBefore: KNOWN } as const
  expect(replacesAnother(alive, contestable, at(100n))).toBe(true)
  expect(replacesAnother(alive, contestable, at(101n))).toBe(false)
})
