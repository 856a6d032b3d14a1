import { test } from 'vitest'
import { expectWithin } from '../support/measured.ts'
import { type Report, runAlone } from './money/run.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 1)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
const ORDERS = Number(process.env['ORDERS'] ?? 28)
const FAULTS = Number(process.env['FAULTS'] ?? 6)
const ABREAST = 12
const PURCHASES = Number(process.env['PURCHASES'] ?? 0.15)
const BOUNTIES = Number(process.env['BOUNTIES'] ?? 0.1)
const EARN = Number(process.env['EARN'] ?? 0.1)
const SETTLED_WITHIN_MS = 30_000
/** Orders and reorganizations of the run that has no other fault. */
const REORG_ORDERS = Number(process.env['REORG_ORDERS'] ?? 12)
const REORGS = Number(process.env['REORGS'] ?? 3)

const lineOf = ({ counts, faults, rejected, ...report }: Report): string =>
  [
    `seed ${report.seed}: ${report.orders} orders, ${report.payouts} paid out`,
    `${counts.requests} requests, ${counts.answered5xx} answered 5xx, ${counts.retries} retries, ${counts.unanswered} given up`,
    `faults ${JSON.stringify(faults)}, ${report.vanished} payments lost, ${report.paidAgain} paid again, ${report.released} released by the clock`,
    `Earn ${JSON.stringify(report.earn)}`,
    `rejected ${JSON.stringify(rejected)}`,
    `faults lasted ${report.faultsMs} ms, ended ${report.endedMs} ms, settled ${report.settledMs} ms`,
    `${report.violations.length} violations`,
    ...report.violations.map(({ invariant, details }) => `${invariant}: ${details.slice(0, 3).join(', ')}`),
  ].join('; ')

/** Over all seeds: a single one with few orders may have none. */
let released = 0

test.concurrent.for(Array.from({ length: SEEDS }, (_, n) => FIRST_SEED + n))(
  `money: every invariant holds after ${ORDERS} orders with injected faults, seed %i`,
  { timeout: 1_200_000 },
  async (seed, { expect }) => {
    const report = await runAlone({
      seed,
      orders: ORDERS,
      abreast: ABREAST,
      faults: FAULTS,
      purchases: PURCHASES,
      bounties: BOUNTIES,
      earn: EARN,
    })
    process.stdout.write(`${lineOf(report)}\n`)
    expect(report.violations).toEqual([])
    released += report.released
    expectWithin(report.settledMs, SETTLED_WITHIN_MS)
  },
)

test('money: the clock released an order of at least one seed', ({ expect }) => {
  expect(released).toBeGreaterThan(0)
})

test(`money: no treasury is short and every sum is whole after ${REORGS} reorganizations during ${REORG_ORDERS} orders, while one provider claims early finality`, {
  timeout: 900_000,
}, async ({ expect }) => {
  const report = await runAlone({
    seed: FIRST_SEED,
    orders: REORG_ORDERS,
    abreast: ABREAST,
    bounties: BOUNTIES,
    earn: EARN,
    networks: ['base-mainnet', 'alt-mainnet'],
    faults: REORGS,
    faultNames: ['reorg'],
    firstProvider: { isFinalEarly: true },
  })
  process.stdout.write(`${lineOf(report)}\n`)
  expect(report.violations).toEqual([])
  expect(report.shortSnapshots).toEqual([])
})
