import { findEventsAfter } from '@market/core/events'
import { HOUR } from '@market/kernel/clock'
import type { BountyId } from '@market/kernel/ids'
import type { Claim } from '@market/offers/bounties'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newBuyer } from '../orders/order-fixture.ts'
import { type Claimant, ESCROW } from './bounty-fixture.ts'
import { expectWholeTransfers, namedTransfers } from './bounty-money.ts'
import {
  both,
  CLAIMS,
  countOf,
  endOf,
  openRaceFixture,
  type Raced,
  type RaceFixture,
  rounds,
} from './race-fixture.ts'

const ACCEPTS = 50

let fixture: RaceFixture
beforeEach(async () => {
  fixture = await openRaceFixture()
})
afterEach(() => fixture.end())

/**
 * What an accept raced against came to: the claim has one outcome, and the transfer pays the order. Otherwise it is refunded
 * when the bounty has ended, and stays unused when only the claim has.
 */
async function expectOneOutcome(
  all: readonly Raced[],
  ends: readonly (readonly [string, string])[],
  {
    lost,
    error,
    claim: claimLost,
    refunded,
  }: { lost: string; error: string; claim: string; refunded: 0 | 1 },
): Promise<void> {
  for (const [n, { bounty, claim }] of all.entries()) {
    const isAccepted = ends[n]?.[0] === 'accepted'
    if (!isAccepted) expect(ends[n]?.[0]).toBe(error)
    expect(ends[n]?.[1]).toBe(isAccepted ? lost : ends[n]?.[1])
    expect(await fixture.statusOf(claim)).toBe(isAccepted ? 'accepted' : claimLost)
    expect(await expectWholeTransfers(fixture.db, bounty.id)).toEqual(
      isAccepted ? { paid: 1, refunded: 0 } : { paid: 0, refunded },
    )
  }
}

test('accept and withdraw at once: an order with the whole escrow, or an unused transfer', async () => {
  const claimant = await fixture.makeClaimant()
  const all = await fixture.claimed(claimant)
  const ends = await rounds((n) => {
    const { poster, claim, reference, bounty } = all[n] as Raced
    return both(
      n,
      () => fixture.accept(poster, claim, reference),
      () => fixture.withdraw(claimant, bounty.id),
    )
  })
  await expectOneOutcome(all, ends, {
    lost: 'claim_not_pending',
    error: 'claim_not_pending',
    claim: 'withdrawn',
    refunded: 0,
  })
})

test('accept and cancel at once: an order with the whole escrow, or a refund of the whole transfer', async () => {
  const all = await fixture.claimed(await fixture.makeClaimant())
  const ends = await rounds((n) => {
    const { poster, claim, reference, bounty } = all[n] as Raced
    return both(
      n,
      () => fixture.accept(poster, claim, reference),
      () => fixture.cancelBounty(poster, bounty.id),
    )
  })
  await expectOneOutcome(all, ends, {
    lost: 'bounty_not_open',
    error: 'bounty_not_open',
    claim: 'rejected',
    refunded: 1,
  })
})

test('accept and expiry of the claim at once: an order with the whole escrow, or an unused transfer', async () => {
  const all = await fixture.claimed(await fixture.makeClaimant())
  fixture.clock.advance(24 * HOUR - 1)
  const begin = fixture.passInTheMiddle()
  const ends = await rounds((n) => {
    begin()
    const { poster, claim, reference } = all[n] as Raced
    return both(
      n,
      () => fixture.accept(poster, claim, reference),
      () => fixture.expire(),
    )
  })
  await fixture.expire()
  expect(new Set(ends.map(([accepted]) => accepted))).toEqual(new Set(['accepted', 'claim_not_pending']))
  await expectOneOutcome(all, ends, { lost: '', error: 'claim_not_pending', claim: 'expired', refunded: 0 })
})

const eventsOf = async (claimant: Claimant, bountyId: BountyId): Promise<string[]> =>
  (await findEventsAfter(fixture.db, { kind: 'agent', key: claimant.agentId }, 0n, 50))
    .filter(({ data }) => (data as { bounty_id?: string }).bounty_id === bountyId)
    .map(({ event }) => event)

test('accept: of 50 transfers for 20 claims at once one pays the order and 49 are refunded', async () => {
  const claimants = await fixture.makeClaimants(CLAIMS + 1)
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  const [absent, ...present] = claimants as [Claimant, ...Claimant[]]
  await fixture.claim(absent, bounty.id)
  await fixture.withdraw(absent, bounty.id)
  const claims = await Promise.all(present.map((claimant) => fixture.claim(claimant, bounty.id)))
  const references = Array.from({ length: ACCEPTS }, (_, n) => fixture.fund(poster, ESCROW + BigInt(n % 3)))
  const ends = await Promise.all(
    references.map((reference, n) => endOf(fixture.accept(poster, claims[n % CLAIMS] as Claim, reference))),
  )
  expect(countOf(ends)).toEqual({ accepted: 1, bounty_not_open: ACCEPTS - 1 })
  expect(await fixture.bounty(bounty.id)).toMatchObject({ status: 'claimed', pendingClaims: 0 })

  const named = await namedTransfers(fixture.db, bounty.id)
  expect(named.map(({ reference }) => reference).toSorted()).toEqual(references.toSorted())
  // What is above 110 % of the budget stays in surplus for the payer; it is too little to refund.
  const won = named.find(({ status }) => status === 'accepted')
  expect(won).toMatchObject({ inOrder: ESCROW, refund: 0n })
  for (const { status, amount, payee, refund } of named)
    if (status !== 'accepted') expect({ payee, refund }).toEqual({ payee: poster.wallet.key, refund: amount })

  const orders = await fixture.db.selectFrom('orders').select(['id', 'agent_id', 'status']).execute()
  expect(orders).toMatchObject([{ id: won?.orderId, status: 'paid' }])
  const winner = present.find(({ agentId }) => agentId === orders[0]?.agent_id)
  for (const claimant of present)
    expect(await eventsOf(claimant, bounty.id)).toEqual(
      claimant === winner ? ['bounty.accepted'] : ['bounty.claim_rejected'],
    )
  expect(await eventsOf(absent, bounty.id)).toEqual([])
  expect(await fixture.notificationsOf('bounty.claim_rejected')).toHaveLength(CLAIMS - 1)
  expect(await fixture.notificationsOf('bounty.accepted')).toHaveLength(1)
})

test('accepts of two bounties with the same claimants at once: each creates its order, without a deadlock', async () => {
  const claimants = await fixture.makeClaimants(4)
  const make = async () => {
    const poster = newBuyer()
    const bounty = await fixture.post(poster)
    const claims: Claim[] = []
    for (const claimant of claimants) claims.push(await fixture.claim(claimant, bounty.id))
    return { poster, bounty, claims, reference: fixture.fund(poster) }
  }
  const all = await rounds(make)
  const ends = await rounds((n) => {
    const { poster, claims, reference } = all[n] as Awaited<ReturnType<typeof make>>
    return endOf(fixture.accept(poster, claims[n % claims.length] as Claim, reference))
  })
  expect(new Set(ends)).toEqual(new Set(['accepted']))
  for (const { bounty } of all)
    expect(await expectWholeTransfers(fixture.db, bounty.id)).toEqual({ paid: 1, refunded: 0 })
})

test('a late accept and the end of the order at once: the order is refunded, and the late transfer too', async () => {
  const winner = await fixture.makeClaimant()
  const all = await rounds(() => fixture.accepted(newBuyer(), winner))
  const ends = await rounds((n) => {
    const { poster, claim, orderId } = all[n] as (typeof all)[number]
    return both(
      n,
      () => fixture.accept(poster, claim, fixture.fund(poster)),
      () => fixture.cancel(poster, orderId),
    )
  })
  expect(new Set(ends.map((end) => end.join(' ')))).toEqual(new Set(['bounty_not_open cancelled']))
  for (const { bounty } of all) {
    expect((await fixture.bounty(bounty.id)).status).toBe('cancelled')
    expect(await expectWholeTransfers(fixture.db, bounty.id)).toEqual({ paid: 1, refunded: 1 })
  }
})
