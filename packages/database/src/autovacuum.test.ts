import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, test } from 'vitest'

const SOON = ['autovacuum_analyze_scale_factor=0.02', 'autovacuum_vacuum_scale_factor=0.02']
const NOT_TRUNCATED = [...SOON, 'vacuum_truncate=false']

/** The reasons are in `migrations/0017_autovacuum.sql`. */
const HOT: Readonly<Record<string, readonly string[]>> = {
  activity: SOON,
  agent_statistics: SOON,
  agents: SOON,
  buyer_event_counters: SOON,
  deliveries: SOON,
  delivery_queues: SOON,
  event_counters: SOON,
  ledger_accounts: SOON,
  listings: SOON,
  notifications: SOON,
  oauth_records: SOON,
  orders: SOON,
  payment_intents: SOON,
  payout_counters: SOON,
  payouts: SOON,
  purchases: SOON,
  requests: NOT_TRUNCATED,
  reserve_leaves: SOON,
  sessions: SOON,
  statistic_changes: NOT_TRUNCATED,
  transfers: SOON,
  unread_counters: SOON,
  used_signatures: NOT_TRUNCATED,
}

test('autovacuum: comes to hot tables after a fiftieth of their rows, also to each month of deliveries and to the next ones', async () => {
  const database = await testDatabase()
  try {
    await sql`select make_month('deliveries', date '2001-01-01')`.execute(database.db)
    const { rows } = await sql<{ name: string; settings: readonly string[] }>`
      select relname as name, array(select setting from unnest(reloptions) as setting order by setting) as settings
      from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reloptions::text like '%vacuum%'`.execute(
      database.db,
    )
    const found = rows.map(({ name, settings }) => ({
      name,
      settings: settings.filter((setting) => setting.includes('vacuum')),
    }))
    const months = found.filter(({ name }) => name.startsWith('deliveries_'))
    expect(months.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['deliveries_200101', 'deliveries_other']),
    )
    const partitions = await sql<{ count: number }>`
      select count(*)::integer as count from pg_inherits where inhparent = 'deliveries'::regclass`.execute(
      database.db,
    )
    expect(months).toHaveLength(partitions.rows[0]?.count ?? 0)
    const byTable = found.map(({ name, settings }) => [
      name.replace(/^deliveries_.*/, 'deliveries'),
      settings,
    ])
    expect(Object.fromEntries(byTable)).toEqual(HOT)
    for (const { settings } of months) expect(settings).toEqual(SOON)
  } finally {
    await database.stop()
  }
})
