import { randomBytes } from 'node:crypto'
import type { Network } from '@market/kernel/network'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import pg from 'pg'
import { BASE } from './books.ts'

/** The test clock's first moment, at which everything here is written unless it says otherwise. */
export const AT = '2026-01-01T00:00:00Z'

export interface ByHand {
  readonly ctx: MarketContext
  read(text: string): Promise<Record<string, unknown>[]>
  /** In one transaction; resolves only if the commit does. */
  attempt(...statements: string[]): Promise<void>
  /** Every row of the ledger. */
  books(): Promise<unknown>
  stop(): Promise<void>
}

/** A plain connection of the database's owner: no command of ours stands between it and the tables. */
export async function byHand(): Promise<ByHand> {
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
    books: async () => ({
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
