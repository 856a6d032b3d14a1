import { test } from 'vitest'
import { BUGS, BUGS_THAT_SHOW_SOON, TOGETHER } from './money/bugs.ts'
import { runAlone } from './money/run.ts'

/** So many seeds, of which nearly all must show each bug; unless said, as many as it takes to see it, and few. */
const SEEDS = process.env['SEEDS'] === undefined ? undefined : Number(process.env['SEEDS'])
const FEW = 3
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
/** One of them or all of them, each in a run of its own; unless said, three of them in one run. */
const BUG = process.env['BUG']
const RUNS =
  BUG === undefined
    ? [{ ...TOGETHER, planted: BUGS_THAT_SHOW_SOON }]
    : BUGS.filter(({ name }) => BUG === 'all' || BUG === name).map((bug) => ({ ...bug, planted: [bug] }))
const LEAST_CAUGHT = 0.95
/** Longer than a transaction that comes late takes to arrive. */
const USUAL = { orders: 12, abreast: 12, faults: 0, settledWithinMs: 10_000 }

test.concurrent.for(RUNS)(
  'every seeded bug is found: $name',
  { timeout: (SEEDS ?? FEW) * 180_000 },
  async ({ planted, ...bug }, { expect }) => {
    const found = new Map<string, number>()
    let caught = 0
    let runs = 0
    const isEnough = () => (SEEDS === undefined ? caught > 0 || runs >= FEW : runs >= SEEDS)
    while (!isEnough()) {
      const report = await runAlone({ ...USUAL, seed: FIRST_SEED + runs++, ...bug.aim, bug })
      const broken = report.violations.map(({ invariant }) => invariant)
      const unseen = planted.filter(({ shownBy }) => !shownBy.some((invariant) => broken.includes(invariant)))
      if (unseen.length === 0) caught++
      for (const { name } of unseen) process.stdout.write(`${name}: not seen, ${JSON.stringify(report)}\n`)
      for (const invariant of broken) found.set(invariant, (found.get(invariant) ?? 0) + 1)
    }
    const by = [...found].map(([invariant, times]) => `${invariant} ${times}`).join('; ')
    process.stdout.write(`${bug.name}: caught ${caught} of ${runs} by ${by}\n`)
    expect(SEEDS === undefined ? caught : caught / runs).toBeGreaterThanOrEqual(LEAST_CAUGHT)
  },
)
