import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BenchRow } from './bench-report.ts'

/** Runs the benches one after another and prints their figures as one table. Names on the command line choose some. */
const BENCHES = [
  'me',
  'quotes',
  'orders',
  'cost',
  'ledger',
  'payouts',
  'settlement',
  'webhooks',
  'listings',
  'reads',
  'mcp',
  'uploads',
  'start',
  'idle',
  'worst',
  'web',
  'streams',
]
/** Hours and tens of gigabytes: only by name. */
const BY_NAME_ONLY = ['growth']

const chosen = process.argv.slice(2)
if (chosen.includes('--help')) {
  console.log(
    `npm run bench -- [bench …]\n\nThe benches are ${[...BENCHES, ...BY_NAME_ONLY].join(', ')}. Only by name: ${BY_NAME_ONLY.join(', ')}.`,
  )
  process.exit(0)
}
const unknown = chosen.filter((name) => ![...BENCHES, ...BY_NAME_ONLY].includes(name))
if (unknown.length > 0)
  throw new Error(
    `Unknown bench: ${unknown.join(', ')}. Choose from ${[...BENCHES, ...BY_NAME_ONLY].join(', ')}.`,
  )

const rows: BenchRow[] = []
const failed: string[] = []
for (const name of chosen.length > 0 ? chosen : BENCHES) {
  console.log(`\n== ${name}`)
  const child = fork(fileURLToPath(new URL(`./bench-${name}.ts`, import.meta.url)), { execArgv: [] })
  child.on('message', (reported) => rows.push(...(reported as BenchRow[])))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) failed.push(name)
}

console.log('\n| What | Measured | Aim | CPU per call |\n|---|---|---|---|')
for (const { what, measured, aim, cpu } of rows) console.log(`| ${what} | ${measured} | ${aim} | ${cpu} |`)
if (failed.length > 0) {
  console.log(`\nfailed: ${failed.join(', ')}`)
  process.exitCode = 1
}
