import { randomBytes } from 'node:crypto'
import type { Network } from '@market/kernel/network'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import pg from 'pg'
import { BASE } from './ledger-fixtures.ts'

/** The start of the test clock, and the default time of everything written here. */
export const AT = '2026-01-01T00:00:00Z'

export interface RawSql {
  readonly ctx: MarketContext
  read(text: string): Promise<Record<string, unknown>[]>
  /** Runs the statements in one transaction; rejects when one of them or the commit fails. */
  attempt(...statements: string[]): Promise<void>
  /** Every row of the ledger. */
  snapshot(): Promise<unknown>
  stop(): Promise<void>
}

/** A connection as the owner of the database, without the code of the ledger: only constraints and triggers apply. */
export async function openRawSql(): Promise<RawSql> {
  const database = await testDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const read = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows
  return {
    ctx: marketContext({ db: database.db }),
    read,
    attempt: async (...statements) => {
      try {
        await client.query('begin')
        for (const text of statements) await client.query(text)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      }
    },
    snapshot: async () => ({
      accounts: await read('select * from ledger_accounts order by id'),
      journals: await read('select * from ledger_journals order by id'),
      moves: await read('select * from ledger_moves order by journal_id, n'),
    }),
    stop: async () => {
      await client.end()
      await database.stop()
    },
  }
}

export const someJournalId = (): string => `jrn_1767225600000_0${randomBytes(8).toString('hex')}`

export const writeJournal = (
  id: string,
  { count = 2, key = `key:${id}`, at = AT }: { count?: number; key?: string; at?: string } = {},
): string =>
  `insert into ledger_journals (id, key, reason, subject, network, move_count, at)
   values ('${id}', '${key}', 'test', 'ord_by_hand', '${BASE}', ${count}, '${at}')`

interface Place {
  readonly network?: Network
  readonly at?: string
  readonly asset?: string
  readonly table?: string
}

export const writeMove = (
  journal: string,
  n: number,
  account: string,
  micros: bigint,
  { network = BASE, at = AT, asset = 'USDC', table = 'ledger_moves' }: Place = {},
): string =>
  `insert into ${table} (journal_id, n, account_id, amount_micros, network, asset, at)
   values ('${journal}', ${n}, '${account}', ${micros}, '${network}', '${asset}', '${at}')`

export function writeAccount(
  id: string,
  as: { readonly balance?: number; readonly kind?: string; readonly mayBeNegative?: boolean } = {},
): string {
  const [kind, network, subject] = id.split(':')
  const { balance = 0, mayBeNegative = kind === 'world' } = as
  return `insert into ledger_accounts
    (id, kind, network, subject, may_be_negative, balance_micros, created_at, updated_at)
    values ('${id}', '${as.kind ?? kind}', '${network}', '${subject}', ${mayBeNegative}, ${balance}, '${AT}', '${AT}')
    on conflict do nothing`
}
