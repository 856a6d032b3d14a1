import { DAY, HOUR } from '@market/kernel/clock'
import type { Bounty } from '@market/offers/bounties'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newBuyer } from '../orders/order-fixture.ts'
import type { Claimant } from './bounty-fixture.ts'
import {
  both,
  CLAIMS,
  countOf,
  endOf,
  openRaceFixture,
  type Raced,
  type RaceFixture,
  ROUNDS,
  rounds,
} from './race-fixture.ts'

const AGENTS = 100

let fixture: RaceFixture
beforeEach(async () => {
  fixture = await openRaceFixture()
})
afterEach(() => fixture.end())

test('claim: of 100 agents at once 20 succeed, and the others get bounty_full', async () => {
  const claimants = await fixture.makeClaimants(AGENTS)
  const bounty = await fixture.post(newBuyer())
  const ends = await Promise.all(claimants.map((claimant) => endOf(fixture.claim(claimant, bounty.id))))
  expect(countOf(ends)).toEqual({ pending: CLAIMS, bounty_full: AGENTS - CLAIMS })
  expect((await fixture.bounty(bounty.id)).pendingClaims).toBe(CLAIMS)
  const winners = claimants.filter((_, n) => ends[n] === 'pending')
  // One that withdraws makes room for one other.
  await fixture.withdraw(winners[0] as Claimant, bounty.id)
  const again = await Promise.all(claimants.map((claimant) => endOf(fixture.claim(claimant, bounty.id))))
  expect(again.filter((end) => end === 'pending')).toHaveLength(1)
  expect((await fixture.bounty(bounty.id)).pendingClaims).toBe(CLAIMS)
})

test('claim: an agent that claims five times at once has one claim, and four get 409 already_claimed', async () => {
  const claimant = await fixture.makeClaimant()
  const posted = await rounds(() => fixture.post(newBuyer()))
  const ends = await rounds(async (n) => {
    const { id } = posted[n] as Bounty
    return countOf(await Promise.all(Array.from({ length: 5 }, () => endOf(fixture.claim(claimant, id)))))
  })
  for (const end of ends) expect(end).toEqual({ pending: 1, already_claimed: 4 })
})

test('withdraw and claim again at once: the agent has at most one pending claim', async () => {
  const claimant = await fixture.makeClaimant()
  const all = await fixture.claimed(claimant)
  const ends = await rounds((n) => {
    const { id } = (all[n] as Raced).bounty
    return both(
      n,
      () => fixture.withdraw(claimant, id),
      () => fixture.claim(claimant, id),
    )
  })
  for (const [withdrawn, again] of ends) {
    expect(withdrawn).toBe('withdrawn')
    expect(['pending', 'already_claimed']).toContain(again)
  }
  for (const { bounty } of all) {
    const { pendingClaims } = await fixture.bounty(bounty.id)
    const end = await endOf(fixture.claim(claimant, bounty.id))
    expect(end).toBe(pendingClaims === 1 ? 'already_claimed' : 'pending')
  }
})

test('claim and cancel at once: no claim of a cancelled bounty stays pending', async () => {
  const claimant = await fixture.makeClaimant()
  const poster = newBuyer()
  const posted = await rounds(() => fixture.post(poster))
  const ends = await rounds((n) => {
    const { id } = posted[n] as Bounty
    return both(
      n,
      () => fixture.claim(claimant, id),
      () => fixture.cancelBounty(poster, id),
    )
  })
  for (const [n, [claim, cancelled]] of ends.entries()) {
    expect(cancelled).toBe('cancelled')
    expect(['pending', 'bounty_not_open']).toContain(claim)
    expect(await fixture.bounty((posted[n] as Bounty).id)).toMatchObject({
      status: 'cancelled',
      pendingClaims: 0,
    })
  }
  const rejected = ends.filter(([claim]) => claim === 'pending')
  expect(await fixture.notificationsOf('bounty.cancelled')).toHaveLength(rejected.length)
})

test('claim and expiry of the bounty at once: a claim succeeds before the last millisecond, and never after', async () => {
  const claimant = await fixture.makeClaimant()
  const posted = await rounds(() => fixture.post(newBuyer()))
  fixture.clock.advance(30 * DAY - 1)
  const begin = fixture.passInTheMiddle()
  const ends = await rounds((n) => {
    begin()
    return both(
      n,
      () => fixture.claim(claimant, (posted[n] as Bounty).id),
      () => fixture.expire(),
    )
  })
  await fixture.expire()
  expect(new Set(ends.map(([claim]) => claim))).toEqual(new Set(['pending', 'bounty_not_open']))
  for (const { id } of posted)
    expect(await fixture.bounty(id)).toMatchObject({ status: 'expired', pendingClaims: 0 })
  expect(await fixture.notificationsOf('bounty.expired')).toHaveLength(ROUNDS)
  const pending = ends.filter(([claim]) => claim === 'pending')
  expect(await fixture.notificationsOf('bounty.claim_expired')).toHaveLength(pending.length)
})

test('sweeps of two workers at once: each claim and bounty expires once, with one notification', async () => {
  const claimants = await fixture.makeClaimants(3)
  const posted = await rounds(() => fixture.post(newBuyer()))
  await rounds(async (n) => {
    for (const claimant of claimants) await fixture.claim(claimant, (posted[n] as Bounty).id)
  })
  const sweep = () => Promise.all([fixture.expire(), fixture.expire(), fixture.expire()])
  fixture.clock.advance(24 * HOUR - 1)
  await sweep()
  expect(await fixture.notificationsOf('bounty.claim_expired')).toEqual([])
  fixture.clock.advance(1)
  await sweep()
  const expired = await fixture.notificationsOf('bounty.claim_expired')
  expect(Object.values(countOf(expired))).toEqual([ROUNDS, ROUNDS, ROUNDS])
  for (const { id } of posted)
    expect(await fixture.bounty(id)).toMatchObject({ status: 'open', pendingClaims: 0 })
  fixture.clock.advance(29 * DAY)
  await sweep()
  for (const { id } of posted) expect((await fixture.bounty(id)).status).toBe('expired')
  const over = await fixture.notificationsOf('bounty.expired')
  expect(Object.values(countOf(over))).toEqual(posted.map(() => 1))
  expect(await fixture.notificationsOf('bounty.claim_expired')).toHaveLength(expired.length)
})
