import { migrate } from '@market/database/migrate'
import { latestMigration, readMigrations } from '@market/database/migrations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type JourneyWorld, startJourneys } from '../journeys/order-journeys.ts'
import { until } from '../support/until.ts'
import { expandSteps } from './expand-steps.ts'
import { startOrderLoad } from './order-load.ts'

const LONG = { withinMs: 120_000 }

let world: JourneyWorld
beforeAll(async () => {
  world = await startJourneys({ networks: ['base-mainnet'] })
})
afterAll(() => world?.stop())

test('migrations: api and worker of this version complete orders while and after the schema of the next version is applied', {
  timeout: 600_000,
}, async () => {
  const { market } = world
  const load = startOrderLoad(world, 3)
  const done = (orders: number) => () => load.completed() >= orders || load.errors().length > 0
  await until('orders are completed before the migrations', done(2), LONG)
  const steps = expandSteps()
  for (let count = 1; count <= steps.length; count++) {
    const before = load.completed()
    const applied = await migrate(market.database.url, [...readMigrations(), ...steps.slice(0, count)])
    expect(applied).toEqual([steps[count - 1]?.name])
    await until(`an order is completed after ${applied[0]}`, done(before + 1), LONG)
  }
  const last = load.completed()
  await until('orders are completed after the last migration', done(last + 4), LONG)
  await load.stop()

  expect(load.errors()).toEqual([])
  const metrics = await (await fetch(`${market.url}/metrics`)).text()
  expect(metrics).toMatch(/^market_faults_total 0$/m)
  expect(metrics).not.toMatch(/^market_requests_total\{[^}]*status="5/m)
  expect(metrics).toMatch(/^market_ready 1$/m)
  expect(market.logText()).not.toContain('unexpected error')
  expect(latestMigration() < (steps[0]?.name ?? '')).toBe(true)
})
