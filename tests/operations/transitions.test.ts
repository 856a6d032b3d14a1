import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TRANSITIONS as WALLETS } from '../../packages/custody/src/wallets/states.ts'
import { TRANSITIONS as VENUE_TRANSFERS } from '../../packages/earn/src/venue-transfers/states.ts'
import {
  BOUNTY_TRANSITIONS as BOUNTIES,
  CLAIM_TRANSITIONS as CLAIMS,
} from '../../packages/offers/src/bounties/states.ts'
import { ACTOR_KINDS, ACTORS, TRANSITIONS as ORDERS } from '../../packages/trade/src/orders/states.ts'

/** The tables of `states.ts` and what the catalog of a migrated database says about the same states. */

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.stop())

/** The changes of state in a transition table. Triggers compare only these. */
function changesOf(table: Table): string[] {
  const changes = Object.entries(table).flatMap(([from, next]) =>
    Object.values(next).flatMap((to) => (to === from ? [] : [`${from} ${to}`])),
  )
  return [...new Set(changes)].toSorted()
}

/** The pairs of `(old.status, new.status) not in (…)` in the function of a trigger. */
async function changesIn(name: string): Promise<string[]> {
  const { rows } = await sql<{ body: string }>`
    select prosrc as body from pg_proc where proname = ${name}
  `.execute(database.db)
  const [, pairs = ''] =
    /\(old\.\w+, new\.\w+\)\s+not in\s*\(([\s\S]*?)\)\s*then/i.exec(rows[0]?.body ?? '') ?? []
  return [...pairs.matchAll(/\('(\w+)',\s*'(\w+)'\)/g)].map(([, from, to]) => `${from} ${to}`).toSorted()
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

const literalsIn = (text: string): string[] => [...text.matchAll(/'(\w+)'/g)].map(([, value = '']) => value)

describe.each([
  ['check_bounty_transition', 'bounties', 'status', BOUNTIES],
  ['check_claim_transition', 'bounty_claims', 'status', CLAIMS],
  ['check_wallet_transaction', 'wallet_transactions', 'status', WALLETS],
  ['check_venue_transfer', 'venue_transfers', 'state', VENUE_TRANSFERS],
] as const)('%s', (name, table, column, transitions) => {
  test('the trigger allows exactly the changes of states.ts', async () => {
    expect(await changesIn(name)).toEqual(changesOf(transitions))
  })

  test(`${table}.${column} allows exactly the states of states.ts`, async () => {
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
