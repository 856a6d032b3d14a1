import type { Bug } from './bug.ts'

/** Most bounties are approved at once, so their money is distributed or refunded within seconds. */
const AIM = { bounties: 1, thieves: 0, scenario: 'approved', faults: 0 } as const

export const BOUNTY_BUGS: readonly Bug[] = [
  {
    name: 'bounty-without-fee',
    // The agent gets all 110 %.
    shownBy: ['an order of a bounty costs 110 % of the budget and pays its agent the whole budget'],
    changes: [
      {
        file: 'trade/src/orders/policy.ts',
        from: 'const BOUNTY: Policy = { ...DIRECT, earliestPayment: () => EVER, splitFee: takeOffFee }',
        to: 'const BOUNTY: Policy = { ...DIRECT, earliestPayment: () => EVER, splitFee: (all) => ({ agent: all, fee: (all - all) as Usdc }) }',
      },
    ],
    aim: AIM,
  },
  {
    name: 'bounty-fee-twice',
    // The fee is taken off the budget too, as for an order of a listing.
    shownBy: ['an order of a bounty costs 110 % of the budget and pays its agent the whole budget'],
    changes: [
      {
        file: 'trade/src/orders/policy.ts',
        from: 'const BOUNTY: Policy = { ...DIRECT, earliestPayment: () => EVER, splitFee: takeOffFee }',
        to: 'const BOUNTY: Policy = { ...DIRECT, earliestPayment: () => EVER }',
      },
    ],
    aim: AIM,
  },
  {
    name: 'late-transfer-not-refunded',
    shownBy: ['a transfer for a claim pays the order, is refunded as a whole or stays unused'],
    changes: [
      {
        file: 'work/src/acceptances/claim-purpose.ts',
        from: '    await requestPayout(ctx, tx, refund)',
        to: '    if (transfer.amount < 0n) await requestPayout(ctx, tx, refund)',
      },
    ],
    aim: AIM,
  },
]
