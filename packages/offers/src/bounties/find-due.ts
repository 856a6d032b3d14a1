import type { Db } from '@market/database/transact'
import type { BountyId } from '@market/kernel/ids'
import { sql } from 'kysely'

/** A bounty or a claim whose time is over. */
export interface Due {
  readonly id: string
  readonly bountyId: BountyId
  readonly expiresAt: Date
}

interface DueQuery {
  readonly limit: number
  readonly after: Due | undefined
}

const isDueAfter = (now: Date, after: Due | undefined) =>
  sql`expires_at <= ${now} and ${
    after === undefined ? sql`true` : sql`(expires_at, id) > (${after.expiresAt}::timestamptz, ${after.id})`
  }`

/** Open bounties whose time is over, the oldest first. */
export async function findDueBounties(db: Db, now: Date, { limit, after }: DueQuery): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select id, id as "bountyId", expires_at as "expiresAt" from bounties
    where status = 'open' and ${isDueAfter(now, after)} order by expires_at, id limit ${limit}`.execute(db)
  return rows
}

/** Pending claims whose time is over, the oldest first. */
export async function findDueClaims(db: Db, now: Date, { limit, after }: DueQuery): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select id, bounty_id as "bountyId", expires_at as "expiresAt" from bounty_claims
    where status = 'pending' and ${isDueAfter(now, after)} order by expires_at, id limit ${limit}`.execute(db)
  return rows
}
