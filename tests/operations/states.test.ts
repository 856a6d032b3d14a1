import { globSync } from 'node:fs'
import { join } from 'node:path'
import { brokenConstraint } from '@market/database/transact'
import type { TransitionTable } from '@market/kernel/states'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TRANSITIONS as APPROVALS } from '../../packages/core/src/approvals/states.ts'
import { TRANSITIONS as WALLETS } from '../../packages/custody/src/wallets/states.ts'
import { TRANSITIONS as VENUE_TRANSFERS } from '../../packages/earn/src/venue-transfers/states.ts'
import { TRANSITIONS as PAYOUTS } from '../../packages/money/src/payouts/states.ts'
import {
  BOUNTY_TRANSITIONS as BOUNTIES,
  CLAIM_TRANSITIONS as CLAIMS,
} from '../../packages/offers/src/bounties/states.ts'
import { ACTOR_KINDS, ACTORS, TRANSITIONS as ORDERS } from '../../packages/trade/src/orders/states.ts'

interface States {
  readonly column: 'state' | 'status'
  readonly transitions: TransitionTable
  /** The trigger rejects every update that is not in the table, also one that keeps the state. */
  readonly rejectsOtherUpdates?: true
}

/** Each table of the database whose trigger `<table>_transition` checks changes of state. */
const TABLES: Readonly<Record<string, States>> = {
  approvals: { column: 'state', transitions: APPROVALS, rejectsOtherUpdates: true },
  bounties: { column: 'status', transitions: BOUNTIES },
  bounty_claims: { column: 'status', transitions: CLAIMS },
  payouts: { column: 'state', transitions: PAYOUTS },
  venue_transfers: { column: 'state', transitions: VENUE_TRANSFERS },
  wallet_transactions: { column: 'status', transitions: WALLETS },
  // The modules of these have no `states.ts`.
  creator_fees: {
    column: 'status',
    transitions: {
      accrued: { settle: 'settled', reverse: 'reversed' },
      settled: { reverse: 'reversed' },
      reversed: {},
    },
    rejectsOtherUpdates: true,
  },
  payment_intents: {
    column: 'status',
    transitions: {
      waiting: {
        check: 'waiting',
        confirm: 'confirmed',
        refund: 'refunded',
        fail: 'failed',
        expire: 'expired',
        cancel: 'cancelled',
      },
      confirmed: {},
      refunded: {},
      failed: {},
      expired: {},
      cancelled: {},
    },
    rejectsOtherUpdates: true,
  },
}

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.stop())

test('triggers: each `<table>_transition` is enabled and listed here, and nothing else is', async () => {
  const { rows } = await sql<{ name: string; table: string }>`
    select tgname as name, tgrelid::regclass::text as table from pg_trigger
    where tgname like '%\\_transition' and tgenabled in ('O', 'A')`.execute(database.db)
  const expected = Object.keys(TABLES).map((table) => ({ name: `${table}_transition`, table }))
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  expect(rows.toSorted(byName)).toEqual(expected.toSorted(byName))
})

test('states.ts: each transition table of a module is compared here', async () => {
  const root = join(import.meta.dirname, '../..')
  const files = globSync('packages/*/src/**/states.ts', { cwd: root, exclude: ['packages/kernel/**'] })
  const modules = await Promise.all(files.map((file): Promise<object> => import(join(root, file))))
  const tables = modules.flatMap((exports) =>
    Object.entries(exports).flatMap(([name, table]) => (name.endsWith('TRANSITIONS') ? [table] : [])),
  )
  const compared = [ORDERS, ...Object.values(TABLES).map(({ transitions }) => transitions)]
  expect(tables.length).toBeGreaterThanOrEqual(files.length)
  expect(tables.filter((table) => !compared.includes(table))).toEqual([])
})

const literalsIn = (text: string): string[] => [...text.matchAll(/'(\w+)'/g)].map(([, value = '']) => value)

/** The trigger, and the values that its conditions name: a pair of states that the table does not have is tried as well. */
async function triggerOf(table: string): Promise<{ definition: string; values: string[] }> {
  const { rows } = await sql<{ definition: string; body: string }>`
    select pg_get_triggerdef(oid) as definition, pg_get_functiondef(tgfoid) as body from pg_trigger
    where tgrelid = ${table}::regclass and tgname = ${`${table}_transition`}`.execute(database.db)
  const { definition = '', body = '' } = rows[0] ?? {}
  return { definition, values: literalsIn(body.replace(/\braise [^;]*;/g, '')) }
}

/** The values that a CHECK about this column alone lists. */
async function valuesOf(table: string, column: string): Promise<string[]> {
  const { rows } = await sql<{ definition: string }>`
    select pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum]
    where c.contype = 'c' and c.conrelid = ${table}::regclass and a.attname = ${column}
  `.execute(database.db)
  return rows.flatMap(({ definition }) => literalsIn(definition)).toSorted()
}

/** The pairs that the trigger allows, each tried on a copy of the table that has no constraints and no other triggers. */
async function allowedPairs(table: string, column: string, definition: string, states: readonly string[]) {
  const { db } = database
  const [copy, state] = [sql.ref(`${table}_copy`), sql.ref(column)]
  await sql`create table ${copy} as select *, '' as next_state from ${sql.ref(table)} with no data`.execute(
    db,
  )
  await sql`
    insert into ${copy} (${state}, next_state)
    select a, b from unnest(${states}::text[]) as a, unnest(${states}::text[]) as b`.execute(db)
  await sql.raw(definition.replace(` ON public.${table} `, ` ON ${table}_copy `)).execute(db)
  const allowed: string[] = []
  for (const from of states)
    for (const to of states) {
      const update = sql`update ${copy} set ${state} = ${to} where ${state} = ${from} and next_state = ${to}`
      const broken = await update.execute(db).then(() => undefined, brokenConstraint)
      if (broken === undefined) allowed.push(`${from} ${to}`)
      else expect(broken).toBe(`${table}_transition`)
    }
  return allowed.toSorted()
}

describe.each(Object.entries(TABLES))('%s', (table, { column, transitions, rejectsOtherUpdates }) => {
  test('the trigger allows exactly the changes of the table (asvs V2.3)', async () => {
    const { definition, values } = await triggerOf(table)
    const states = [...new Set([...Object.keys(transitions), ...(await valuesOf(table, column)), ...values])]
    const listed = Object.entries(transitions).flatMap(([from, next]) =>
      Object.values(next).map((to) => `${from} ${to}`),
    )
    const kept = rejectsOtherUpdates ? [] : states.map((state) => `${state} ${state}`)
    expect(await allowedPairs(table, column, definition, states)).toEqual(
      [...new Set([...listed, ...kept])].toSorted(),
    )
  })

  test('the CHECK of the column allows exactly the states of the table', async () => {
    expect(await valuesOf(table, column)).toEqual(Object.keys(transitions).toSorted())
  })
})

/** The combinations of values that a CHECK of `order_steps` allows, of those that it names and the given ones. */
async function allowedBy(constraint: string, columns: readonly string[], known: readonly string[]) {
  const { rows } = await sql<{ expression: string }>`
    select pg_get_expr(conbin, conrelid) as expression from pg_constraint
    where conrelid = 'order_steps'::regclass and conname = ${constraint}
  `.execute(database.db)
  const expression = rows[0]?.expression ?? 'null'
  const values = [...new Set([...known, ...literalsIn(expression)])]
  const from = columns.map((column) => sql`unnest(${values}::text[]) as ${sql.ref(column)}`)
  const names = sql.join(columns.map((column) => sql.ref(column)))
  const { rows: allowed } = await sql<{ row: string }>`
    select concat_ws(' ', ${names}) as row from ${sql.join(from)} where ${sql.raw(expression)}
  `.execute(database.db)
  return allowed.map(({ row }) => row).toSorted()
}

test('order_steps_transition: the CHECK allows exactly the transitions of states.ts', async () => {
  const transitions = Object.entries(ORDERS).flatMap(([from, next]) =>
    Object.entries(next).map(([action, to]) => `${from} ${action} ${to}`),
  )
  const known = [...Object.keys(ORDERS), ...Object.keys(ACTORS)]
  expect(await allowedBy('order_steps_transition', ['from_status', 'action', 'to_status'], known)).toEqual(
    transitions.toSorted(),
  )
})

const pairsOf = (table: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(table).flatMap(([key, values]) => values.map((value) => `${key} ${value}`))

test('order_steps_role: the CHECK allows each action to exactly the roles of states.ts', async () => {
  const known = [...Object.keys(ACTORS), ...Object.keys(ACTOR_KINDS)]
  expect(await allowedBy('order_steps_role', ['action', 'role'], known)).toEqual(pairsOf(ACTORS).toSorted())
})

test('order_steps_actor: the CHECK allows each role to exactly the kinds of actors of states.ts', async () => {
  const known = [...Object.keys(ACTOR_KINDS), ...Object.values(ACTOR_KINDS).flat()]
  const actors = pairsOf(ACTOR_KINDS).toSorted()
  expect(await allowedBy('order_steps_actor', ['role', 'actor'], known)).toEqual(actors)
})
