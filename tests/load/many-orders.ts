import { DAY } from '@market/kernel/clock'
import pg from 'pg'
import { SEEDED, seedOf } from './order-seeds.ts'

/** How long the market has stood, however many orders it had. */
const AGE_MS = 30 * DAY
const AT_ONCE = 2

interface Shape {
  readonly table: string
  readonly name: string
  readonly kind: string
  readonly definition: string
}

async function asClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // Triggers rest: what is filled in here is what they would have left behind.
    await client.query(`set session_replication_role = replica`)
    await client.query(`set maintenance_work_mem = '512MB'`)
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Does the tasks, so many of them at once. */
async function all(url: string, tasks: readonly string[]): Promise<void> {
  const left = [...tasks]
  const worker = () =>
    asClient(url, async (client) => {
      for (let task = left.shift(); task !== undefined; task = left.shift()) await client.query(task)
    })
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/**
 * So many orders made by arithmetic alone, of all sellers there are, with all that stands behind them in the other
 * tables, or only in some. Keys, checks and indexes are taken away and built again at the end, which is faster.
 */
export async function fillWithOrders(
  url: string,
  count: number,
  tables: readonly string[] = Object.keys(SEEDED),
): Promise<void> {
  const named = tables.map((table) => `'public.${table}'::regclass`).join()
  const { shapes, indexes, sellers } = await asClient(url, async (client) => ({
    shapes: await takeConstraints(client, named),
    indexes: await takeIndexes(client, named),
    sellers: Number((await client.query('select count(*) from listings')).rows[0]?.count),
  }))
  const seed = seedOf({ count, sellers, firstMs: Date.now() - AGE_MS, stepMs: AGE_MS / count })
  await asClient(url, (client) => client.query(`create unlogged table seed as ${seed}`))
  // Emptied and filled in one transaction: a server that keeps the least log then writes none of it down twice.
  await all(
    url,
    tables.map((table) => `begin; truncate ${table}; insert into ${table} ${SEEDED[table]}; commit`),
  )
  const add = ({ table, name, definition }: Shape) =>
    `alter table ${table} add constraint ${name} ${definition}`
  await all(url, [...shapes.filter(({ kind }) => 'pu'.includes(kind)).map(add), ...indexes])
  // What was made by rule needs no second look.
  await all(
    url,
    shapes.filter(({ kind }) => kind === 'c').map((shape) => `${add(shape)} not valid`),
  )
  await all(
    url,
    shapes.filter(({ kind }) => kind === 'f').map((shape) => `${add(shape)} not valid`),
  )
  await all(
    url,
    tables.map((table) => `vacuum analyze ${table}`),
  )
  await asClient(url, (client) => client.query('drop table seed; analyze listings, agents'))
}

async function takeConstraints(client: pg.Client, tables: string): Promise<Shape[]> {
  const { rows } = await client.query<Shape>(`
    select conrelid::regclass::text as table, quote_ident(conname) as name, contype as kind,
      pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype in ('p', 'u', 'f', 'c') and conparentid = 0
      and (conrelid in (${tables}) or confrelid in (${tables}))
    order by contype = 'f' desc`)
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`)
  return rows
}

async function takeIndexes(client: pg.Client, tables: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid in (${tables})`)
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}
