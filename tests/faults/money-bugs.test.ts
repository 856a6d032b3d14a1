import { test } from 'vitest'
import { BUGS } from './money/bugs.ts'
import { runAlone } from './money/run.ts'

/** So many seeds, of which nearly all must show each bug; unless said, as many as it takes to see it, and few. */
const SEEDS = process.env['SEEDS'] === undefined ? undefined : Number(process.env['SEEDS'])
const FEW = 3
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
/** One of them; unless said, all of them. Each has a run of its own. */
const BUG = process.env['BUG'] ?? 'all'
const CHOSEN = BUGS.filter(({ name }) => BUG === 'all' || BUG === name)
const LEAST_CAUGHT = 0.95
/** Longer than a transaction that comes late takes to arrive. */
const USUAL = { orders: 12, abreast: 12, faults: 0, settledWithinMs: 10_000 }

test.concurrent.for(CHOSEN)(
  'every seeded bug is found: $name',
  { timeout: (SEEDS ?? FEW) * 180_000 },
  async (bug, { expect }) => {
    const found = new Map<string, number>()
    let caught = 0
    let runs = 0
    const isEnough = () => (SEEDS === undefined ? caught > 0 || runs >= FEW : runs >= SEEDS)
    while (!isEnough()) {
      const report = await runAlone({ ...USUAL, seed: FIRST_SEED + runs++, ...bug.aim, bug })
      const broken = report.violations.map(({ invariant }) => invariant)
      if (bug.shownBy.some((invariant) => broken.includes(invariant))) caught++
      else process.stdout.write(`${bug.name}: not seen, ${JSON.stringify(report)}\n`)
      for (const invariant of broken) found.set(invariant, (found.get(invariant) ?? 0) + 1)
    }
    const by = [...found].map(([invariant, times]) => `${invariant} ${times}`).join('; ')
    process.stdout.write(`${bug.name}: caught ${caught} of ${runs} by ${by}\n`)
    expect(SEEDS === undefined ? caught : caught / runs).toBeGreaterThanOrEqual(LEAST_CAUGHT)
  },
)
