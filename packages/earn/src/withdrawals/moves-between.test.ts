import { usdc } from '@market/kernel/money'
import { suspense, withdrawal } from '@market/money/ledger'
import { expect, test } from 'vitest'
import { movesBetween } from './moves-between.ts'

const NETWORK = 'base-mainnet'
const [FIRST, SECOND] = [suspense(NETWORK, '0xa'), suspense(NETWORK, '0xa.1')]
const [ANN, BOB] = [withdrawal(NETWORK, 'ewd_1'), withdrawal(NETWORK, 'ewd_2')]
const of = (account: typeof FIRST, amount: bigint) => ({ account, amount: usdc(amount) })

test('movesBetween: what came in two transfers fills what is owed, from both where it takes both', () => {
  expect(movesBetween([of(FIRST, 60n), of(SECOND, 40n)], [of(ANN, 70n), of(BOB, 30n)])).toEqual([
    { from: FIRST, to: ANN, amount: 60n },
    { from: SECOND, to: ANN, amount: 10n },
    { from: SECOND, to: BOB, amount: 30n },
  ])
})

test('movesBetween: no empty move, and none for more than arrived', () => {
  expect(movesBetween([of(FIRST, 0n), of(SECOND, 5n)], [of(ANN, 0n), of(BOB, 9n)])).toEqual([
    { from: SECOND, to: BOB, amount: 5n },
  ])
  expect(movesBetween([], [of(ANN, 1n)])).toEqual([])
})
