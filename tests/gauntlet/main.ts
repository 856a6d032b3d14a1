import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerOfRun } from '@market/testing/template-database'
import { SECTIONS, type Section } from './sections.ts'

/**
 * Runs what is too long for CI, one section after the other, and prints one table at the end.
 * `npm run gauntlet -- money bugs` runs two sections; SEEDS sets the number of seeds, SEED the first one.
 */

interface Line {
  readonly name: string
  readonly seeds: string
  readonly result: string
  readonly seconds: number
  readonly isGood: boolean
}

const FIRST_SEED = Number(process.env['SEED'] ?? 1)
const seedsOf = ({ seeds }: Section): number | undefined =>
  seeds === undefined ? undefined : Number(process.env['SEEDS'] ?? seeds)

function chosen(names: readonly string[]): readonly Section[] {
  if (names.includes('--help')) {
    const known = SECTIONS.map(({ name }) => name).join(', ')
    process.stdout.write(
      `npm run gauntlet -- [section …]\n\nRuns the long tests. The sections are ${known}.\nSEEDS sets the number of seeds, SEED the first one.\n`,
    )
    process.exit(0)
  }
  const unknown = names.filter((name) => !SECTIONS.some((section) => section.name === name))
  if (unknown.length > 0) {
    const known = SECTIONS.map(({ name }) => name).join(', ')
    process.stderr.write(`Unknown section: ${unknown.join(', ')}. The sections are ${known}.\n`)
    process.exit(2)
  }
  return names.length === 0 ? SECTIONS : SECTIONS.filter(({ name }) => names.includes(name))
}

function countsIn(file: string): string {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8'))
    return `${numPassedTests} passed, ${numFailedTests} failed`
  } catch {
    return 'no result'
  }
}

async function run(section: Section, folder: string): Promise<Line> {
  const seeds = seedsOf(section)
  const settings = section.settings?.(seeds ?? 1, FIRST_SEED) ?? {}
  const file = join(folder, `${section.name}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const args =
    section.script === undefined
      ? ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...(section.files ?? [])]
      : [section.script]
  const { SEEDS: _seeds, SEED: _seed, ...environment } = process.env
  const texts = Object.entries(settings).map(([name, value]) => [name, String(value)])
  process.stdout.write(`\n== ${section.name} ${texts.map((pair) => pair.join('=')).join(' ')}\n`)
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...environment, MEASURE_TIME: '1', ...Object.fromEntries(texts) },
  })
  const [code] = await once(child, 'exit')
  return {
    name: section.name,
    seeds: seeds === undefined ? '' : String(seeds),
    result: section.script === undefined ? countsIn(file) : code === 0 ? 'passed' : 'failed',
    seconds: Math.round((performance.now() - began) / 1_000),
    isGood: code === 0,
  }
}

function tableOf(lines: readonly Line[]): string {
  const rows = [
    ['name', 'seeds', 'result', 'seconds'],
    ...lines.map(({ name, seeds, result, seconds }) => [name, seeds, result, String(seconds)]),
  ]
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) => row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ')).join('\n')
}

// One server for all sections: each would start its own.
const server = process.env['POSTGRES_URL'] === undefined ? await startServerOfRun() : undefined
const folder = mkdtempSync(join(tmpdir(), 'gauntlet-'))
const lines: Line[] = []
for (const section of chosen(process.argv.slice(2))) lines.push(await run(section, folder))
rmSync(folder, { recursive: true, force: true })
await server?.stop()
process.stdout.write(`\n${tableOf(lines)}\n`)
process.exitCode = lines.every(({ isGood }) => isGood) ? 0 : 1
