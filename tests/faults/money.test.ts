import { availableParallelism, loadavg } from 'node:os'
import { test } from 'vitest'
import { isTimeOver, TIME_IS_OVER } from '../support/time-is-over.ts'
import { type Report, runAlone } from './money/run.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 4)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
const ORDERS = Number(process.env['ORDERS'] ?? 200)
const FAULTS = Number(process.env['FAULTS'] ?? 20)
const ABREAST = 12
const HIRES = Number(process.env['HIRES'] ?? 0.15)
const SETTLED_WITHIN_MS = 30_000

const BUSY = 2

/** How many want each core: on a machine that is much too busy everything takes as much longer. */
const crowd = (): number => {
  const perCore = (loadavg()[0] ?? 0) / availableParallelism()
  return perCore < BUSY ? 1 : perCore
}

const lineOf = ({ counts, faults, refused, ...report }: Report): string =>
  [
    `seed ${report.seed}: ${report.orders} orders, ${report.payouts} paid out`,
    `${counts.requests} requests, ${counts.answered5xx} answered 5xx, ${counts.retries} retries, ${counts.unanswered} given up`,
    `faults ${JSON.stringify(faults)}, ${report.vanished} payments lost, ${report.paidAgain} paid again, ${report.released} released by the clock`,
    `refused ${JSON.stringify(refused)}`,
    `shaken ${report.shakenMs} ms, ended ${report.endedMs} ms, settled ${report.settledMs} ms`,
    `${report.violations.length} violations`,
    ...report.violations.map(({ invariant, details }) => `${invariant}: ${details.slice(0, 3).join(', ')}`),
  ].join('; ')

test.concurrent.for(Array.from({ length: SEEDS }, (_, n) => FIRST_SEED + n))(
  `money is where it belongs after ${ORDERS} orders through every fault, seed %i`,
  { timeout: 900_000 },
  async (seed, { expect, skip }) => {
    skip(isTimeOver(seed === FIRST_SEED), TIME_IS_OVER)
    const report = await runAlone({ seed, orders: ORDERS, abreast: ABREAST, faults: FAULTS, hires: HIRES })
    process.stdout.write(`${lineOf(report)}\n`)
    expect(report.violations).toEqual([])
    expect(report.released).toBeGreaterThan(0)
    expect(report.settledMs).toBeLessThanOrEqual(SETTLED_WITHIN_MS * crowd())
  },
)
