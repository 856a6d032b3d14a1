import type { Needs } from '@market/core/context'
import { brokenConstraint, type Db, type Tx, transact } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { type SqlBool, sql } from 'kysely'
import { type Account, type AccountKind, idOf, KINDS } from './accounts.ts'
import type { Journal, JournalId, Leg } from './journal.ts'

export interface PostedJournal extends Omit<Journal, 'moves' | 'agentId'> {
  readonly id: JournalId
  readonly at: Date
  readonly legs: readonly Leg[]
}

/** A balance would have become negative. Postgres has aborted the transaction. */
export const isOverdraft = (error: unknown): boolean =>
  brokenConstraint(error) === 'ledger_accounts_not_overdrawn'

/**
 * Inserts the journal, new accounts and the moves by one statement; a trigger updates the balances. Returns false when
 * the key was posted before. Accounts are inserted and locked in the order of the legs.
 */
export async function insertJournal(
  tx: Tx,
  journal: PostedJournal & Pick<Journal, 'agentId'>,
): Promise<boolean> {
  const { legs, network } = journal
  const column = <T>(of: (leg: Leg) => T): T[] => legs.map(of)
  const { rows } = await sql`
    with journal as (
      insert into ledger_journals (id, key, reason, subject, agent_id, network, move_count, at)
      values (${journal.id}, ${journal.key}, ${journal.reason}, ${journal.subject}, ${journal.agentId ?? null},
        ${network}, ${legs.length}::integer, ${journal.at}::timestamptz)
      on conflict (key) do nothing returning id, network, at
    ), leg as (
      select * from journal, unnest(
        ${column(({ account }) => idOf(account))}::text[], ${column(({ account }) => account.kind)}::text[],
        ${column(({ account }) => account.subject)}::text[],
        ${column(({ account }) => KINDS[account.kind].mayBeNegative)}::boolean[],
        ${column(({ micros }) => micros.toString())}::bigint[]
      ) with ordinality as leg (account_id, kind, subject, may_be_negative, micros, n)
    ), account as (
      insert into ledger_accounts (id, kind, network, subject, may_be_negative, created_at, updated_at)
      select account_id, kind, network, subject, may_be_negative, at, at from leg order by n
      on conflict (id) do nothing
    )
    insert into ledger_moves (journal_id, n, account_id, amount_micros, network, at)
    select id, n, account_id, micros, network, at from leg order by n
    returning n`.execute(tx)
  return rows.length > 0
}

const journals = (db: Db | Tx) =>
  db.selectFrom('ledger_journals').select(['id', 'key', 'reason', 'subject', 'network', 'at'])

export async function findJournalByKey(tx: Tx, key: string): Promise<PostedJournal | undefined> {
  const rows = await journals(tx).where('key', '=', key).execute()
  return (await withLegs(tx, rows))[0]
}

/** Newest first; ids sort by time. */
export async function findJournals(
  db: Db | Tx,
  about: { readonly subject: string } | { readonly agentId: string },
  before: JournalId | undefined,
  limit: number,
): Promise<PostedJournal[]> {
  const rows = await journals(db)
    .where((where) =>
      'subject' in about ? where('subject', '=', about.subject) : where('agent_id', '=', about.agentId),
    )
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return withLegs(db, rows)
}

type JournalRow = Awaited<ReturnType<ReturnType<typeof journals>['execute']>>[number]

/** Filters by time too, so that only the partitions of these journals are read. */
async function withLegs(db: Db | Tx, rows: readonly JournalRow[]): Promise<PostedJournal[]> {
  if (rows.length === 0) return []
  const moves = await db
    .selectFrom('ledger_moves as move')
    .innerJoin('ledger_accounts as account', 'account.id', 'move.account_id')
    .select(['move.journal_id', 'move.amount_micros', 'account.kind', 'account.network', 'account.subject'])
    .where(
      sql<SqlBool>`(move.journal_id, move.at) in (${sql.join(rows.map((row) => sql`(${row.id}, ${row.at}::timestamptz)`))})`,
    )
    .orderBy('move.n')
    .execute()
  const byJournal = Map.groupBy(moves, (move) => move.journal_id)
  return rows.map((row) => ({
    ...row,
    id: row.id as JournalId,
    network: row.network as Network,
    legs: (byJournal.get(row.id) ?? []).map((move) => ({
      account: {
        kind: move.kind as AccountKind,
        network: move.network as Network,
        subject: move.subject,
      },
      micros: move.amount_micros,
    })),
  }))
}

const sumOfBalances = sql<bigint>`coalesce(sum(balance_micros), 0)::bigint`.as('sum')

export async function sumBalances(db: Db | Tx, accounts: readonly Account[]): Promise<bigint> {
  const row = await db
    .selectFrom('ledger_accounts')
    .select(sumOfBalances)
    .where('id', 'in', accounts.map(idOf))
    .executeTakeFirstOrThrow()
  return row.sum
}

/** Reads only accounts with a balance, so the cost depends on open orders and not on all orders ever made. */
export async function sumByKind(
  db: Db | Tx,
  network: Network,
): Promise<Readonly<Record<AccountKind, bigint>>> {
  const rows = await db
    .selectFrom('ledger_accounts')
    .select(['kind', sumOfBalances])
    .where('network', '=', network)
    .where('is_open', '=', true)
    .groupBy('kind')
    .execute()
  const sums = new Map(rows.map(({ kind, sum }) => [kind, sum]))
  const sumOf = (kind: string): [string, bigint] => [kind, sums.get(kind) ?? 0n]
  return Object.fromEntries(Object.keys(KINDS).map(sumOf)) as Record<AccountKind, bigint>
}

/**
 * Creates the partitions of this month and the next two. Ledger partitions are never dropped. The lock lets one worker
 * create them at a time.
 */
export const maintainLedgerPartitions = ({ db, clock }: Needs<'db' | 'clock'>): Promise<void> =>
  transact(db, async (tx) => {
    const now = clock.now()
    await sql`select pg_advisory_xact_lock(hashtext('make_month'))`.execute(tx)
    await sql`
      select make_month('ledger_moves', (date_trunc('month', ${now}::timestamptz at time zone 'utc') + ahead)::date)
      from unnest(array['0 months', '1 month', '2 months']::interval[]) ahead`.execute(tx)
  })

/** A query of the accounts with a balance, for modules that join it with their own tables. It uses the index of those. */
export const openAccounts = (db: Db | Tx, kinds: readonly AccountKind[]) =>
  db
    .selectFrom('ledger_accounts')
    .select(['id', 'kind', 'network', 'subject', 'balance_micros', 'created_at'])
    .where('is_open', '=', true)
    .where('kind', 'in', kinds)
