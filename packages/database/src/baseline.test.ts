import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asAdmin, databaseUrl } from '@market/testing/template-database'
import { expect, onTestFinished, test } from 'vitest'
import { type Catalog, describeCatalog } from './catalog.ts'
import { migrate } from './migrate.ts'
import { readMigrations } from './migrations.ts'

/** What differs on purpose, in words. */
const REPORT = join(tmpdir(), 'market-baseline.txt')
const BEFORE = fileURLToPath(new URL('../migrations-before/', import.meta.url))

/** Constraints and indexes that kept the former name of their table or column, or had a number instead of a name. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/\bhires_check\b/, 'purchases_paid'],
  [/\bpurchases_check\b/, 'purchases_contested'],
  [/\bhires_/, 'purchases_'],
  [/\bsendings_/, 'outgoing_transfers_'],
  [/\bdelivery_lanes_/, 'delivery_queues_'],
  [/\bpayout_gates_life_/, 'payout_guards_database_epoch_'],
  [/\bpayout_gates_counted_life_/, 'payout_guards_counted_epoch_'],
  [/\bpayout_gates_/, 'payout_guards_'],
  [/\brail_nonces_/, 'payout_nonces_'],
  [/\breserve_snapshots_check\b/, 'reserve_snapshots_day'],
  [/\breserve_looks_check\b/, 'reserve_snapshots_proof'],
  [/\breserve_looks_/, 'reserve_snapshots_'],
  [/\breserve_leaves_look_id_/, 'reserve_leaves_snapshot_id_'],
  [/\bpayouts_told_agent_/, 'payouts_notified_agent_'],
  [/\bpayouts_check2\b/, 'payouts_contested'],
  [/\bpayouts_check1\b/, 'payouts_reason'],
  [/\bpayouts_check\b/, 'payouts_final'],
]
/** The baseline has no rows that a constraint could not hold for. */
const NOT_VALID = / NOT VALID$/

async function catalogOf(folder?: string): Promise<Catalog> {
  const name = `market_test_${randomBytes(6).toString('hex')}`
  await asAdmin((client) => client.query(`create database ${name}`))
  onTestFinished(() =>
    asAdmin(async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
  )
  await migrate(databaseUrl(name), readMigrations(folder))
  return describeCatalog(databaseUrl(name))
}

/** Comments within functions are not part of what they do. */
const withoutComments = (line: string) =>
  line.startsWith('function') ? line.replace(/^\s*--.*\n/gm, '') : line

const rename = (line: string) => {
  const found = /^(?:constraint|index)/.test(line) && RENAMED.find(([old]) => old.test(line))
  return found ? line.replace(found[0], found[1]) : line
}

const except = (lines: readonly string[], others: readonly string[]) => {
  const known = new Set(others)
  return lines.filter((line) => !known.has(line))
}

test('baseline: creates the catalog that the 63 migrations created, but for names and NOT VALID', async () => {
  const before = await catalogOf(BEFORE)
  const after = await catalogOf()
  const [was, is] = [before, after].map(({ lines }) => lines.map(withoutComments)) as [string[], string[]]
  const intended = was.map((line) => rename(line.replace(NOT_VALID, '')))

  const missing = except(intended, is)
  const added = except(is, intended)
  const sorted = (catalog: Catalog) =>
    Object.fromEntries(Object.entries(catalog.order).map(([table, columns]) => [table, columns.toSorted()]))
  writeFileSync(
    REPORT,
    [
      `${was.length} lines before, ${is.length} after`,
      ...missing.map((line) => `missing: ${line}`),
      ...added.map((line) => `added: ${line}`),
      '',
      'Constraints that were not validated and are:',
      ...was.filter((line) => NOT_VALID.test(line)).map((line) => line.split(' CHECK')[0]),
      '',
      'Names:',
      ...was.flatMap((line) => (rename(line) === line ? [] : [`${line}\n  -> ${rename(line)}`])),
      '',
      'Columns in another order:',
      ...Object.keys(after.order).flatMap((table) => {
        const [old, now] = [before.order[table]?.join(', '), after.order[table]?.join(', ')]
        return old === now ? [] : [`${table}\n  before: ${old}\n  after:  ${now}`]
      }),
      '',
    ].join('\n'),
  )
  expect({ missing, added }).toEqual({ missing: [], added: [] })
  expect(sorted(after)).toEqual(sorted(before))
  expect(is.length).toBeGreaterThan(1000)
})
