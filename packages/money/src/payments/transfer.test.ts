import type { IncomingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Journal } from '../ledger/index.ts'
import {
  arrivalJournal,
  matchJournal,
  parseTransferName,
  reversalJournal,
  type Transfer,
  transferName,
  transferOf,
} from './transfer.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const seen: IncomingTransfer = {
  reference: '0xabc',
  index: 0,
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

  test('transferName: has the index of a second transfer, and is parsed into the same transfer', () => {
    const second = { reference: '0xabc', index: 1 }
    expect([transferName(seen), transferName(second)]).toEqual(['0xabc', '0xabc.1'])
    for (const transfer of [{ reference: '0xabc', index: 0 }, second])
      expect(parseTransferName(transferName(transfer))).toEqual(transfer)
  })

  test('journals: the id of the purpose is the subject, or the name of an unclaimed transfer', () => {
    const second = { ...unclaimed, index: 1 }
    expect([claimed, unclaimed, second].map((one) => arrivalJournal(one).subject)).toEqual([
      'ord_1',
      '0xabc',
      '0xabc.1',
    ])
    expect(arrivalJournal(second).key).not.toBe(arrivalJournal(unclaimed).key)
  })

  test('journals: a transfer that was reversed and included again has another key', () => {
    const again = transferOf('base-mainnet', seen, new Date(NOW.getTime() + 1))
    expect(arrivalJournal(again).key).not.toBe(arrivalJournal(unclaimed).key)
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

  test('reversalJournal: removes what arrived', () => {
    expect(gains(reversalJournal(claimed))).toEqual({ escrow: -100n, surplus: -5n, world: 105n })
    expect(gains(reversalJournal(unclaimed))).toEqual({ suspense: -105n, world: 105n })
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
        const reversal = reversalJournal(one)
        expect(gains({ ...reversal, moves: [...arrivalJournal(one).moves, ...reversal.moves] })).toEqual({})
      }),
    )
  })
})
