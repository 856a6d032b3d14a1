import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { HELP } from '../../packages/admin/src/help.ts'
import { alerts, RUNBOOKS, read, runbooks } from './alerts.ts'

const pageOf = (name: string) => read(`${RUNBOOKS}/${name}`)
const ROOT = join(import.meta.dirname, '../..')

test('runbooks: every alert has a severity, a time, a summary and a runbook that names it', () => {
  expect(alerts().length).toBeGreaterThan(25)
  const names = alerts().map(({ alert }) => alert)
  expect(new Set(names).size).toBe(names.length)
  for (const { alert, labels, annotations, for: time } of alerts()) {
    expect(['warning', 'critical'], alert).toContain(labels.severity)
    expect(time, alert).toMatch(/^\d+[mh]$/)
    expect(annotations.summary.length, alert).toBeGreaterThan(10)
    expect(existsSync(join(ROOT, annotations.runbook_url)), annotations.runbook_url).toBe(true)
    expect(read(annotations.runbook_url), annotations.runbook_url).toContain(`\`${alert}\``)
  }
})

test('runbooks: every runbook is named by an alert, or says why it has none', () => {
  const named = new Set(alerts().map(({ annotations }) => annotations.runbook_url))
  const without = runbooks().filter((name) => !named.has(`${RUNBOOKS}/${name}`))
  expect(without.filter((name) => !/^No alert: \S.{20,}/m.test(pageOf(name)))).toEqual([])
})

test('runbooks: a runbook names only alerts that exist', () => {
  const known = new Set(alerts().map(({ alert }) => alert))
  const unknown = runbooks().flatMap((name) =>
    [...(/^Alerts?: (.+)$/m.exec(pageOf(name))?.[1] ?? '').matchAll(/`(\w+)`/g)]
      .map(([, alert = '']) => alert)
      .filter((alert) => !known.has(alert))
      .map((alert) => `${name}: ${alert}`),
  )
  expect(unknown).toEqual([])
})

test('runbooks: every page that freezes payouts freezes the wallets of agents too', () => {
  const freezing = runbooks().filter((name) => /freeze[ _]payouts/.test(pageOf(name)))
  expect(freezing.length).toBeGreaterThan(4)
  expect(freezing.filter((name) => !pageOf(name).includes('freeze_wallets_solana'))).toEqual([])
})

const SECTIONS = ['What users notice', 'Look at first', 'Do', 'It is over when', 'Never']

test.each(runbooks())('runbooks: %s has every section, and README.md lists it', (name) => {
  const headings = [...pageOf(name).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(SECTIONS)
  expect(pageOf('README.md')).toContain(`(${name})`)
})

test('runbooks: every command of the operators’ program exists', () => {
  const pages = runbooks().map(pageOf).join('\n')
  const used = [...pages.matchAll(/npm run admin -- ([a-z-]+)(?: ([a-z]+))?/g)]
  const known = [...HELP.matchAll(/^ {2}([a-z-]+)(?: ([a-z|]+))?/gm)].map(([, command, words]) => ({
    command,
    words: words?.split('|'),
  }))
  expect(used.length).toBeGreaterThan(5)
  const unknown = used.filter(
    ([, command, word = '']) =>
      !known.some((one) => one.command === command && (one.words?.includes(word) ?? true)),
  )
  expect(unknown.map(([text]) => text)).toEqual([])
})

const statementsIn = (page: string): string[] => [
  ...[...page.matchAll(/psql "\$DATABASE_URL" -c (?:"([^"]+)"|'([^']+)')/g)].map(([, a, b]) => a ?? b ?? ''),
  ...[...page.matchAll(/^```sql\n([^`]+)```/gm)].map(([, statement = '']) => statement),
]

test('runbooks: every SQL statement runs on the newest schema', async () => {
  const database = await testDatabase()
  try {
    const statements = runbooks().flatMap((name) => statementsIn(pageOf(name)))
    expect(statements.length).toBeGreaterThan(8)
    for (const statement of statements) await sql.raw(statement).execute(database.db)
  } finally {
    await database.stop()
  }
})
