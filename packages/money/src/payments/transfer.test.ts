import type { IncomingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Journal } from '../ledger/index.ts'
import {
  arrivalJournal,
  correctionJournal,
  keySuffix,
  matchJournal,
  reversalJournal,
  subjectOf,
  type Transfer,
  transferOf,
} from './transfer.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const seen: IncomingTransfer = {
  reference: '0xabc',
  amount: usdc(105n),
  payer: '0xpayer',
  at: NOW,
  block: { height: 7n, hash: '0xblock' },
  final: false,
  attachedData: null,
}
const unclaimed = transferOf('base-mainnet', seen, NOW)
const claimed = transferOf('base-mainnet', seen, NOW, {
  purpose: { kind: 'order', id: 'ord_1' },
  due: usdc(100n),
})

/** The change of balance per kind of account. */
function gains({ moves }: Journal): Record<string, bigint> {
  const sums: Record<string, bigint> = {}
  for (const { from, to, amount } of moves) {
    sums[from.kind] = (sums[from.kind] ?? 0n) - amount
    sums[to.kind] = (sums[to.kind] ?? 0n) + amount
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

describe('transfer', () => {
  test('transferOf: unclaimed without a claim, `seen` until the chain reports it final', () => {
    expect(unclaimed).toMatchObject({
      purpose: null,
      due: 0n,
      amount: 105n,
      state: 'seen',
      missingSince: null,
    })
    expect(transferOf('base-mainnet', { ...seen, final: true }, NOW).state).toBe('final')
  })

  test('subjectOf: the id of the purpose, or the reference of an unclaimed transfer', () => {
    expect([subjectOf(claimed), subjectOf(unclaimed)]).toEqual(['ord_1', '0xabc'])
  })

  test('keySuffix: a transfer that was reversed and included again has another key', () => {
    const again = transferOf('base-mainnet', seen, new Date(NOW.getTime() + 1))
    expect(keySuffix(again)).not.toBe(keySuffix(unclaimed))
  })
})

describe('journals', () => {
  test('arrivalJournal: posts the amount due to escrow and the rest to surplus; all to suspense when unclaimed', () => {
    expect(gains(arrivalJournal(claimed))).toEqual({ world: -105n, escrow: 100n, surplus: 5n })
    expect(gains(arrivalJournal(unclaimed))).toEqual({ world: -105n, suspense: 105n })
    expect([arrivalJournal(claimed).reason, arrivalJournal(unclaimed).reason]).toEqual([
      'transfer.claimed',
      'transfer.unmatched',
    ])
  })

  test('matchJournal: moves a claimed transfer out of suspense', () => {
    expect(gains(matchJournal(claimed))).toEqual({ suspense: -105n, escrow: 100n, surplus: 5n })
  })

  test('reversalJournal: removes the claimed amount and what other wallets paid in the same transaction', () => {
    expect(gains(reversalJournal(claimed, usdc(12n)))).toEqual({
      escrow: -100n,
      surplus: -5n,
      suspense: -12n,
      world: 117n,
    })
    expect(gains(reversalJournal(unclaimed, usdc(105n)))).toEqual({ suspense: -105n, world: 105n })
  })

  test('correctionJournal: raises or lowers suspense by the difference', () => {
    expect(gains(correctionJournal(unclaimed, 3n, 1))).toEqual({ world: -3n, suspense: 3n })
    expect(gains(correctionJournal(unclaimed, -3n, 2))).toEqual({ world: 3n, suspense: -3n })
    expect(correctionJournal(unclaimed, 3n, 1).key).not.toBe(correctionJournal(unclaimed, 3n, 2).key)
  })

  test('for any amount: unmatched then matched equals claimed, and a reversal leaves every account unchanged', () => {
    const amounts = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.bigInt({ min: 0n, max: 10n ** 15n }))
    fc.assert(
      fc.property(amounts, ([due, more]) => {
        const amount = usdc(due + more)
        const one: Transfer = { ...claimed, amount, due: usdc(due) }
        const journals = [arrivalJournal({ ...one, purpose: null, due: usdc(0n) }), matchJournal(one)]
        const merged = gains({ ...journals[0], moves: journals.flatMap(({ moves }) => moves) } as Journal)
        expect(merged).toEqual(gains(arrivalJournal(one)))
        const reversal = reversalJournal(one, usdc(0n))
        expect(gains({ ...reversal, moves: [...arrivalJournal(one).moves, ...reversal.moves] })).toEqual({})
      }),
    )
  })
})
