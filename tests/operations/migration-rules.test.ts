import { readMigrations } from '@market/database/migrations'
import { expect, test } from 'vitest'
import { boundMigrations, problemsOf, statementsOf } from './expand-rules.ts'
import { expandSteps } from './expand-steps.ts'
import { type Release, releases, releasesOf } from './releases.ts'

/** Two releases that do not exist, so that the rules are tried before there is one. */
const RELEASES = releasesOf(`# name, commit, newest migration
0.1.0 ${'a'.repeat(40)} 0002_orders
0.2.0 ${'b'.repeat(40)} 0003_orders_task
`)

test('migrations: each one after the first release is an expand step, or begins with "-- contract: <release>"', () => {
  const wrong = boundMigrations(readMigrations(), releases()).flatMap((migration) =>
    problemsOf(migration, releases()).map((problem) => `${migration.name}: ${problem}`),
  )
  expect(wrong).toEqual([])
})

test('migrations: the rules bind the files after the first release, and none without a release', () => {
  const files = ['0001_identity', '0002_orders', '0003_orders_task', '0004_orders_contract'].map((name) => ({
    name,
    sql: '',
    checksum: '',
  }))
  expect(boundMigrations(files, RELEASES).map(({ name }) => name)).toEqual([
    '0003_orders_task',
    '0004_orders_contract',
  ])
  expect(boundMigrations(files, [])).toEqual([])
})

test('migrations: the steps that the test of two versions runs keep the rules', () => {
  expect(expandSteps().flatMap((step) => problemsOf(step, RELEASES))).toEqual([])
})

test.each([
  ['drops a column', 'alter table orders drop column brief;'],
  ['renames a table', 'alter table orders rename to purchases_of_work;'],
  ['changes a type', 'alter table orders alter column brief type jsonb using brief::jsonb;'],
  ['requires a column', 'alter table orders alter column brief set not null;'],
  ['adds a column that is not null without a default', 'alter table orders add column x text not null;'],
  ['rewrites the table', 'alter table orders add column x uuid not null default gen_random_uuid();'],
  ['adds a valid constraint', 'alter table orders add constraint x check (length(brief) < 10);'],
  ['drops a constraint', 'alter table orders drop constraint orders_brief_check;'],
  ['locks the table for an index', 'create index x on orders (brief);'],
  ['creates an index concurrently in a transaction', 'create index concurrently x on orders (brief);'],
  ['fills an existing table', "update orders set brief = '';"],
  ['deletes rows', 'delete from orders;'],
  ['drops a table', 'drop table orders;'],
  ['hides a statement behind a string', "comment on table orders is 'a;b'; drop table orders;"],
  [
    'replaces a function without a reason',
    'create or replace function f() returns int language sql as $$ select 1; $$;',
  ],
  ['names a release that does not exist', '-- contract: 99.0.0\ndrop table orders;'],
])('migrations: a file that %s is rejected', (_name, sql) => {
  expect(problemsOf({ sql }, RELEASES)).toHaveLength(1)
})

test.each([
  [
    'has a contract for a recorded release',
    `-- contract: ${RELEASES[0]?.name}\nalter table orders drop column brief;`,
  ],
  [
    'says why a new function is compatible',
    '-- compatible: returns the same for every old caller\ncreate or replace function f() returns int language sql as $$ select 1; $$;',
  ],
  [
    'fills and indexes the table that it creates',
    "create table t (id text); insert into t values ('a;b'); create index t_id on t (id);",
  ],
])('migrations: a file that %s is accepted', (_name, sql) => {
  expect(problemsOf({ sql }, RELEASES)).toEqual([])
})

test('migrations: statements end at semicolons outside strings, comments and bodies', () => {
  expect(statementsOf("select ';'; -- a; b\nselect $$ a; b $$; select $x$ ; $x$ - 1;")).toHaveLength(3)
})

function problemsOfReleases(list: readonly Release[], migrations: readonly string[]): string[] {
  return list.flatMap(({ name, commit, migration }) => [
    ...(/^\d+\.\d+\.\d+$/.test(name) ? [] : [`${name} is no version`]),
    ...(/^[0-9a-f]{40}$/.test(commit) ? [] : [`${name}: ${commit} is no commit`]),
    ...(migrations.includes(migration) ? [] : [`${name}: ${migration} is no migration`]),
  ])
}

test('releases: every line has a name, a commit and a migration that exists', () => {
  const names = readMigrations().map(({ name }) => name)
  expect(problemsOfReleases(releases(), names)).toEqual([])
  expect(problemsOfReleases(RELEASES, ['0002_orders', '0003_orders_task'])).toEqual([])
  expect(problemsOfReleases(releasesOf('next main 0009_missing'), names)).toHaveLength(3)
})
