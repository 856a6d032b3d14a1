import { test } from 'vitest'
import { expectWithin } from '../support/measured.ts'
import { type Report, runAlone } from './money/run.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 1)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
const ORDERS = Number(process.env['ORDERS'] ?? 28)
const FAULTS = Number(process.env['FAULTS'] ?? 6)
const ABREAST = 12
const HIRES = Number(process.env['HIRES'] ?? 0.15)
const SETTLED_WITHIN_MS = 30_000

const lineOf = ({ counts, faults, rejected, ...report }: Report): string =>
  [
    `seed ${report.seed}: ${report.orders} orders, ${report.payouts} paid out`,
    `${counts.requests} requests, ${counts.answered5xx} answered 5xx, ${counts.retries} retries, ${counts.unanswered} given up`,
    `faults ${JSON.stringify(faults)}, ${report.vanished} payments lost, ${report.paidAgain} paid again, ${report.released} released by the clock`,
    `rejected ${JSON.stringify(rejected)}`,
    `shaken ${report.shakenMs} ms, ended ${report.endedMs} ms, settled ${report.settledMs} ms`,
    `${report.violations.length} violations`,
    ...report.violations.map(({ invariant, details }) => `${invariant}: ${details.slice(0, 3).join(', ')}`),
  ].join('; ')

test.concurrent.for(Array.from({ length: SEEDS }, (_, n) => FIRST_SEED + n))(
  `money is where it belongs after ${ORDERS} orders through every fault, seed %i`,
  { timeout: 900_000 },
  async (seed, { expect }) => {
    const report = await runAlone({
      seed,
      orders: ORDERS,
      abreast: ABREAST,
      faults: FAULTS,
      purchases: HIRES,
    })
    process.stdout.write(`${lineOf(report)}\n`)
    expect(report.violations).toEqual([])
    expect(report.released).toBeGreaterThan(0)
    expectWithin(report.settledMs, SETTLED_WITHIN_MS)
  },
)
