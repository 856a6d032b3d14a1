import type { SeenTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Journal } from '../ledger/index.ts'
import {
  arrival,
  correcting,
  keyEnd,
  matching,
  subjectOf,
  type Transfer,
  transferOf,
  undoing,
} from './transfer.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const seen: SeenTransfer = {
  reference: '0xabc',
  amount: usdc(105n),
  payer: '0xpayer',
  at: NOW,
  block: { height: 7n, hash: '0xblock' },
  final: false,
  attached: null,
}
const unclaimed = transferOf('base-mainnet', seen, NOW)
const claimed = transferOf('base-mainnet', seen, NOW, { purpose: 'order:ord_1', due: usdc(100n) })

/** What each account gains by a journal, by its kind. */
function gains({ moves }: Journal): Record<string, bigint> {
  const sums: Record<string, bigint> = {}
  for (const { from, to, amount } of moves) {
    sums[from.kind] = (sums[from.kind] ?? 0n) - amount
    sums[to.kind] = (sums[to.kind] ?? 0n) + amount
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

describe('transferOf', () => {
  test('is unclaimed without a purpose, and seen until the chain calls it final', () => {
    expect(unclaimed).toMatchObject({ purpose: '', due: 0n, amount: 105n, state: 'seen', missingSince: null })
    expect(transferOf('base-mainnet', { ...seen, final: true }, NOW).state).toBe('final')
  })

  test('subjectOf: the id of what it pays for, or its reference while nobody claimed it', () => {
    expect([subjectOf(claimed), subjectOf(unclaimed)]).toEqual(['ord_1', '0xabc'])
  })

  test('keyEnd: a transfer that is gone and comes again has another key', () => {
    const again = transferOf('base-mainnet', seen, new Date(NOW.getTime() + 1))
    expect(keyEnd(again)).not.toBe(keyEnd(unclaimed))
  })
})

describe('journals', () => {
  test('arrival: what is due is in escrow and the rest is surplus; unclaimed, all is in suspense', () => {
    expect(gains(arrival(claimed))).toEqual({ world: -105n, escrow: 100n, surplus: 5n })
    expect(gains(arrival(unclaimed))).toEqual({ world: -105n, suspense: 105n })
    expect([arrival(claimed).reason, arrival(unclaimed).reason]).toEqual([
      'transfer.claimed',
      'transfer.unmatched',
    ])
  })

  test('matching: moves a claimed transfer out of suspense', () => {
    expect(gains(matching(claimed))).toEqual({ suspense: -105n, escrow: 100n, surplus: 5n })
  })

  test('undoing: takes back the claim and what others paid in the same transaction', () => {
    expect(gains(undoing(claimed, usdc(12n)))).toEqual({
      escrow: -100n,
      surplus: -5n,
      suspense: -12n,
      world: 117n,
    })
    expect(gains(undoing(unclaimed, usdc(105n)))).toEqual({ suspense: -105n, world: 105n })
  })

  test('correcting: suspense follows the transaction up and down', () => {
    expect(gains(correcting(unclaimed, 3n, 1))).toEqual({ world: -3n, suspense: 3n })
    expect(gains(correcting(unclaimed, -3n, 2))).toEqual({ world: 3n, suspense: -3n })
    expect(correcting(unclaimed, 3n, 1).key).not.toBe(correcting(unclaimed, 3n, 2).key)
  })

  test('for any amount, unmatched and then matched is the same as claimed at once, and undoing it leaves nothing', () => {
    const amounts = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.bigInt({ min: 0n, max: 10n ** 15n }))
    fc.assert(
      fc.property(amounts, ([due, more]) => {
        const amount = usdc(due + more)
        const one: Transfer = { ...claimed, amount, due: usdc(due) }
        const late = [arrival({ ...one, purpose: '', due: usdc(0n) }), matching(one)]
        const merged = gains({ ...late[0], moves: late.flatMap(({ moves }) => moves) } as Journal)
        expect(merged).toEqual(gains(arrival(one)))
        const undone = undoing(one, usdc(0n))
        expect(gains({ ...undone, moves: [...arrival(one).moves, ...undone.moves] })).toEqual({})
      }),
    )
  })
})
