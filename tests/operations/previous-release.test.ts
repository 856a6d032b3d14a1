import { migrate } from '@market/database/migrate'
import { readMigrations } from '@market/database/migrations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type JourneyWorld, startJourneys } from '../journeys/order-journeys.ts'
import { until } from '../support/until.ts'
import { expandSteps } from './expand-steps.ts'
import { startOrderLoad } from './order-load.ts'
import { buildRelease, hasCommit, plantRelease } from './previous-release.ts'
import { releases } from './releases.ts'

/** Until the first tag the pair is planted: a release as the files are here, and one whose schema has every expand step. */
const recorded = releases().at(-1)
const commit = recorded?.commit ?? (await plantRelease())
const schema = recorded === undefined ? [...readMigrations(), ...expandSteps()] : readMigrations()

describe.skipIf(!(await hasCommit(commit)))('the previous release', () => {
  let built: Awaited<ReturnType<typeof buildRelease>>
  let world: JourneyWorld
  beforeAll(async () => {
    built = await buildRelease(commit)
    world = await startJourneys({ networks: ['base-mainnet'], from: { folder: built.dist } })
    await migrate(world.market.database.url, schema)
  })
  afterAll(async () => {
    await world?.stop()
    await built?.remove()
  })

  test('migrations: the api and the worker of the last release complete orders on the schema of the next', {
    timeout: 600_000,
  }, async () => {
    const load = startOrderLoad(world, 3)
    await until('orders are completed', () => load.completed() >= 12 || load.errors().length > 0, {
      withinMs: 300_000,
    })
    await load.stop()
    expect(load.errors()).toEqual([])
    expect(world.market.logText()).not.toContain('unexpected error')
    const ready = await fetch(`${world.market.url}/readyz`)
    expect(ready.status).toBe(200)
  })
})
