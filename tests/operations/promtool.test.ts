import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import {
  alerts,
  dashboards,
  expressionsOf,
  RULES_FILE,
  RULES_TEST_FILE,
  read,
  SCRAPE_FILE,
} from './alerts.ts'

/** Debian's package `prometheus` has it. Without it these tests fail; `npm test` leaves them out. */
const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool'

const promtool = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(PROMTOOL, args)
  return `${stdout}${stderr}`
}

test('promtool: the rules and the scrape configuration are valid', async () => {
  expect(await promtool('check', 'rules', RULES_FILE)).toContain(`${alerts().length} rules found`)
  expect(await promtool('check', 'config', SCRAPE_FILE)).toContain('SUCCESS')
})

test('promtool: each alert fires in its case, and none fires while all is well', async () => {
  expect(await promtool('test', 'rules', RULES_TEST_FILE)).toContain('SUCCESS')
  const text = read('deploy/prometheus/rules.test.yaml')
  const untested = alerts().filter(({ alert }) => !text.includes(`name: ${alert} fires`))
  expect(untested.map(({ alert }) => alert)).toEqual([])
})

test('promtool: every expression of a dashboard is valid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'market-promtool-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'panels.yaml')
  const rules = dashboards()
    .flatMap(expressionsOf)
    .map((expr, n) => ({ record: `panel:${n}`, expr: expr.replaceAll('$__rate_interval', '5m') }))
  writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }))
  expect(await promtool('check', 'rules', file)).toContain(`${rules.length} rules found`)
})
