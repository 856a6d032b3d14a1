import type { Bounty, Claim } from '@market/offers/bounties'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { newBuyer, type TestBuyer } from '../orders/order-fixture.ts'
import { outcome } from '../payments/payment-fixture.ts'
import { type Claimant, openBountyFixture } from './bounty-fixture.ts'
import { bountyFaults } from './bounty-money.ts'

export const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 30)
const PARALLEL = 5
/** The most pending claims of a bounty. */
export const CLAIMS = 20

/** A bounty with one claim, and a transfer that can accept it. */
export interface Raced {
  readonly poster: TestBuyer
  readonly bounty: Bounty
  readonly claim: Claim
  readonly reference: string
}

/** The status that a command led to, or the code of its error. */
export async function endOf(command: Promise<unknown>): Promise<string> {
  const ended = await outcome(command)
  if (typeof ended === 'string') return ended
  return (ended as { readonly status?: string } | undefined)?.status ?? ''
}

/** A few at a time, with the same agents, so that they meet at their rows too. */
export async function rounds<T>(work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let next = 0
  const runOne = async () => {
    for (let n = next++; n < ROUNDS; n = next++) done[n] = await work(n)
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
  return done
}

export const countOf = (ends: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(ends, (end) => end)
      .entries()
      .map(([end, all]) => [end, all.length]),
  )

/** Both at once. The first request has a small lead, so the order alternates. */
export async function both(
  n: number,
  one: () => Promise<unknown>,
  two: () => Promise<unknown>,
): Promise<[string, string]> {
  if (n % 2 === 0) return Promise.all([endOf(one()), endOf(two())])
  const [second, first] = await Promise.all([endOf(two()), endOf(one())])
  return [first, second]
}

export type RaceFixture = Awaited<ReturnType<typeof openRaceFixture>>

export async function openRaceFixture() {
  const fixture = await openBountyFixture()
  const { db, clock } = fixture

  /** Deadlocks Postgres had to break in this database, those a retry hid included. */
  const deadlocks = async (): Promise<bigint> => {
    await sql`select pg_stat_force_next_flush()`.execute(db)
    const { rows } = await sql<{ deadlocks: bigint }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(db)
    return rows[0]?.deadlocks ?? -1n
  }

  return {
    ...fixture,
    async makeClaimants(count: number): Promise<Claimant[]> {
      const made: Claimant[] = []
      for (let n = 0; n < count; n++) made.push(await fixture.makeClaimant())
      return made
    },
    statusOf: async ({ id, bountyId }: Claim) => (await fixture.claimById(bountyId, id))?.status,
    /** Who got notifications of a kind. */
    notificationsOf: async (kind: string): Promise<string[]> =>
      (await db.selectFrom('notifications').select('recipient').where('kind', '=', kind).execute()).map(
        ({ recipient }) => recipient,
      ),
    /** Bounties of one poster, with a claim of the same agent each. */
    claimed(claimant: Claimant): Promise<Raced[]> {
      const poster = newBuyer()
      return rounds(async () => {
        const bounty = await fixture.post(poster)
        const claim = await fixture.claim(claimant, bounty.id)
        return { poster, bounty, claim, reference: fixture.fund(poster) }
      })
    },
    /** Advances the clock by the last millisecond once half of the rounds have begun. */
    passInTheMiddle(): () => void {
      let begun = 0
      return () => {
        if (++begun === ROUNDS / 2) clock.advance(1)
      }
    },
    /** The checks after every race. */
    async end(): Promise<void> {
      try {
        await fixture.expectBalanced()
        expect(await bountyFaults(db)).toEqual([])
        expect(await deadlocks()).toBe(0n)
      } finally {
        await fixture.stop()
      }
    },
  }
}
