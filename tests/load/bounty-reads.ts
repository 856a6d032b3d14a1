import type { Db } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import type { AgentId, BountyId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { getBounty, listBounties, listMyBounties } from '@market/offers/bounties'
import { agentActor, userActor } from '@market/testing/make-actor'
import { sql } from 'kysely'
import { BUSY, OLDEST } from './many-bounties.ts'

type Listing = Parameters<typeof listBounties>[1]
export type Filter = Partial<Omit<Listing, 'sort' | 'cursor'>>

export const SORTS = ['newest', 'budget_desc', 'deadline_asc'] as const

const bounds = { minBudget: usdc(100_000_000n), maxBudget: usdc(200_000_000n) }
const narrow = { minBudget: usdc(5_000_000n), maxBudget: usdc(5_100_000n) }
const oldest = { minBudget: usdc(OLDEST.budgetMicros), maxBudget: usdc(OLDEST.budgetMicros) }

/** One of every kind of filter: with many matches, with few, with none, and with many that come last. */
export const FILTERS: readonly (readonly [string, Filter])[] = [
  ['no filter', {}],
  ['another status', { status: 'expired' }],
  ['a category', { category: 'coding' }],
  ['a rare category', { category: 'influencer' }],
  ['a budget range', bounds],
  ['a narrow budget range', narrow],
  ['a budget that only the oldest have', oldest],
  ['a budget that none has', { minBudget: usdc(900_000_000_000n) }],
  ['a category and a narrow budget range', { category: 'coding', ...narrow }],
  ['a word of all', { search: 'care' }],
  ['a common word', { search: 'logo' }],
  ['common words', { search: 'product video for lawyers' }],
  ['a rare word', { search: 'w13' }],
  ['an absent word', { search: 'qqqqq' }],
  ['a word that only the oldest have', { search: OLDEST.word }],
  ['a common word in a category', { search: 'logo', category: 'coding' }],
  ['a common word in a rare category', { search: 'logo', category: 'influencer' }],
  ['a common word within a narrow budget range', { search: 'logo', ...narrow }],
  ['a word and a budget of the oldest', { search: OLDEST.word, ...oldest }],
]

export const list = (db: Db, asked: Partial<Listing>) =>
  listBounties({ db }, { status: 'open', sort: 'newest', limit: 20, ...asked })

/** The cursor after some pages. */
export async function cursorAfter(
  db: Db,
  asked: Partial<Listing>,
  pages: number,
): Promise<string | undefined> {
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const { bounties, nextCursor } = await list(db, { limit: 100, ...asked, cursor })
    const next = nextCursor(bounties.length)
    if (next === null) return cursor
    cursor = next
  }
  return cursor
}

const busyUser = { ...userActor(BUSY.userId), wallets: [{ key: BUSY.wallet, provenBy: 'key' }] } as const

/** The other reads of bounties. */
export const READS: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
  ['bounties of a poster with many', (db) => listMyBounties({ db }, busyUser, { limit: 100 })],
  [
    'bounties of an agent with many claims',
    (db) => listMyBounties({ db }, agentActor(BUSY.agentId as AgentId), { limit: 100 }),
  ],
  [
    'page 20 of the bounties of an agent with many claims',
    async (db) => {
      let cursor: string | undefined
      const agent = agentActor(BUSY.agentId as AgentId)
      for (let read = 0; read < 20; read++) {
        const page = await listMyBounties({ db }, agent, { limit: 100, cursor })
        cursor = page.nextCursor(page.found.length) ?? undefined
      }
    },
  ],
  [
    'a bounty with its claims',
    async (db) => {
      const id = `bnty_${1700000000000 + 40}_0${'40'.padStart(16, '0')}` as BountyId
      await getBounty({ db, clock: systemClock }, busyUser, id, true)
    },
  ],
]

export interface Counters {
  readonly scans: number
  /** Rows that were fetched from the tables. */
  readonly rows: number
}

/** How often the two tables were read from end to end, and how many of their rows were fetched. */
async function readCounters(db: Db): Promise<Counters> {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<Counters>`
    select sum(seq_scan)::int as scans, sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_user_tables where relname in ('bounties', 'bounty_claims')`.execute(db)
  return rows[0] ?? { scans: -1, rows: -1 }
}

/**
 * What a read costs, functions of the database included, which a plan does not show. `db` has one connection, whose
 * counters are sent before they are read.
 */
export async function costOf(db: Db, read: () => Promise<unknown>): Promise<Counters> {
  const before = await readCounters(db)
  await read()
  const after = await readCounters(db)
  return { scans: after.scans - before.scans, rows: after.rows - before.rows }
}
