import { BOUNTY_TRANSITIONS, CLAIM_TRANSITIONS } from '@market/offers/bounties'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { histories } from './bounty-acts.ts'
import { openBountyFixture } from './bounty-fixture.ts'
import { BountyHistory } from './bounty-history.ts'
import { bountyFaults } from './bounty-money.ts'

const HISTORIES = Number(process.env['BOUNTY_HISTORIES'] ?? 40)
const SEED = Number(process.env['BOUNTY_SEED'] ?? 1)
const MANY = 1_000
const PARALLEL = 4
const LONGEST = 36

/** What commands come to. Some are rare: only a long run must have all of them. */
const OUTCOMES = [
  'accepted',
  'already_claimed',
  'bounty_not_open',
  'cancelled',
  'claim_not_found',
  'claim_not_pending',
  'completed',
  'delivered',
  'disputed',
  'illegal_transition',
  'not_your_bounty',
  'own_bounty',
  'pending',
  'transfer_refunded',
  'transfer_used',
  'underpaid',
  'waiting',
  'withdrawn',
  'wrong_payer',
]

test('bounties: after each step of any history the rows, the money and the notifications are those of the model', {
  timeout: 60_000 + HISTORIES * 4_000,
}, async () => {
  const reached = {
    bounties: new Set<string>(),
    claims: new Set<string>(),
    named: new Set<string>(),
    outcomes: new Set<string>(),
  }
  const runOne = async (_: unknown, n: number) => {
    const fixture = await openBountyFixture()
    try {
      const claimants = [
        await fixture.makeClaimant(),
        await fixture.makeClaimant(),
        await fixture.makeClaimant(),
      ]
      await fc.assert(
        fc.asyncProperty(histories(LONGEST), async (acts) => {
          const history = await BountyHistory.start(fixture, claimants)
          for (const act of acts) await history.step(act)
          await history.end()
          const { bounties, acceptances } = history.model
          for (const { status, claims } of bounties) {
            reached.bounties.add(status)
            for (const claim of claims) reached.claims.add(claim.status)
          }
          for (const { status } of acceptances) reached.named.add(status)
          for (const outcome of history.outcomes) reached.outcomes.add(outcome)
        }),
        { numRuns: Math.ceil(HISTORIES / PARALLEL), seed: SEED + n },
      )
      await fixture.expectBalanced()
      expect(await bountyFaults(fixture.db)).toEqual([])
    } finally {
      await fixture.stop()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
  expect(reached.named).toEqual(new Set(['accepted', 'refunded', 'failed']))
  // At the end nothing is open, and every order is over.
  const ended = (table: object, ...open: string[]) => Object.keys(table).filter((one) => !open.includes(one))
  expect(reached.claims).toEqual(new Set(ended(CLAIM_TRANSITIONS, 'pending')))
  for (const status of ended(BOUNTY_TRANSITIONS, 'open', 'claimed'))
    expect([...reached.bounties]).toContain(status)
  if (HISTORIES >= MANY) expect(OUTCOMES.filter((one) => !reached.outcomes.has(one))).toEqual([])
})
