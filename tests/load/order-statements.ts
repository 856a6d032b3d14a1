import { openPool } from '@market/database/connect'
import type { Tables } from '@market/database/tables'
import type { Db } from '@market/database/transact'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'

export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** Every statement that `work` sends, in order, transactions' begins and ends too. */
export async function statementsOf(
  databaseUrl: string,
  work: (db: Db) => Promise<unknown>,
): Promise<Statement[]> {
  const heard: Statement[] = []
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: openPool({ url: databaseUrl, maxConnections: 1 }) }),
    log: ({ query }) => {
      heard.push({ sql: query.sql, parameters: query.parameters })
    },
  })
  try {
    await work(db)
    return heard
  } finally {
    await db.destroy()
  }
}

const HEX = `lpad(to_hex(:a::bigint), 16, '0')`
const MORE_HEX = `lpad(to_hex(:b::bigint), 16, '0')`

/** What belongs to one order alone, and what stands for it in a script, where every run is another order. */
const OWN = /(ord|jrn|ntf)_\d{13}_0[0-9a-z]{16}|pay_[0-9a-z]{32}|0x[0-9a-f]{64}/

/** A text in parts: pgbench would take what follows a colon for a variable of its own, even inside quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", "''").replaceAll(':', `:' || '`)}'`

/**
 * Writes the statements of one life as a script of pgbench. Ids and times of the life are drawn anew for each run, in
 * the same shape: times rise, hashes are scattered. Each value is cast to what Postgres takes its parameter for.
 */
export async function scriptOf(pool: pg.Pool, statements: readonly Statement[]): Promise<string> {
  const lines = [
    '\\set n :n + 1',
    '\\set ms :base + :n * 8 + :client_id',
    '\\set a random(0, 1152921504606846975)',
    '\\set b random(0, 1152921504606846975)',
  ]
  const write = literals(beginningOf(statements))
  for (const statement of statements) {
    const types = await typesOf(pool, statement)
    const values = statement.parameters.map((value, at) => `(${write(value)})::${types[at]}`)
    const text = statement.sql.replace(/\s+/g, ' ').trim()
    lines.push(`${text.replace(/\$(\d+)/g, (_, n) => values[Number(n) - 1] ?? 'null')};`)
  }
  return lines.join('\n')
}

/** When the order was made, as its id says. */
function beginningOf(statements: readonly Statement[]): number {
  const said = statements.flatMap(({ parameters }) => parameters).map(String)
  return Number(/ord_(\d{13})_/.exec(said.find((value) => /^ord_/.test(value)) ?? '')?.[1])
}

function literals(beganAt: number): (value: unknown) => string {
  const numbers = new Map<string, number>()
  const numberOf = (id: string): number => {
    const known = numbers.get(id) ?? numbers.size
    numbers.set(id, known)
    return known
  }
  const drawn = (id: string): string => {
    const kind = id.slice(0, 4)
    if (id.startsWith('0x')) return `'0x' || ${HEX} || ${MORE_HEX} || ${HEX} || ${MORE_HEX}`
    if (kind === 'pay_') return `'pay_' || ${HEX} || ${MORE_HEX}`
    const first = kind === 'ord_' ? 0 : numberOf(id) % 10
    return `'${kind}' || :ms::text || '_${first}' || ${HEX}`
  }
  const text = (value: string): string => {
    const [own] = OWN.exec(value) ?? []
    if (own === undefined) return quoted(value)
    const at = value.indexOf(own)
    const [before, after] = [value.slice(0, at), value.slice(at + own.length)]
    const parts = [before && quoted(before), drawn(own), after && text(after)]
    return parts.filter((part) => part !== '').join(' || ')
  }
  const write = (value: unknown): string => {
    if (value === null || value === undefined) return 'null'
    if (Array.isArray(value)) return value.length === 0 ? `'{}'` : `array[${value.map(write).join(', ')}]`
    if (Buffer.isBuffer(value)) return `decode('${value.toString('hex')}', 'hex')`
    if (value instanceof Date) return `to_timestamp((:ms::bigint + ${value.getTime() - beganAt}) / 1000.0)`
    return typeof value === 'string' ? text(value) : String(value)
  }
  return write
}

/** What Postgres takes each parameter for. */
async function typesOf(pool: pg.Pool, { sql, parameters }: Statement): Promise<string[]> {
  if (parameters.length === 0) return []
  const client = await pool.connect()
  try {
    await client.query(`prepare asked as ${sql}`)
    const { rows } = await client.query<{ types: string[] }>(
      `select parameter_types::text[] as types from pg_prepared_statements where name = 'asked'`,
    )
    await client.query('deallocate asked')
    return rows[0]?.types ?? []
  } finally {
    client.release()
  }
}
