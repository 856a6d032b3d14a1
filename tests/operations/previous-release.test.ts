import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type JourneyWorld, startJourneys } from '../journeys/order-journeys.ts'
import { until } from '../support/until.ts'
import { startOrderLoad } from './order-load.ts'
import { buildRelease, hasCommit } from './previous-release.ts'
import { releases } from './releases.ts'

const release = releases().at(-1)
const isKnown = release !== undefined && (await hasCommit(release.commit))

describe.skipIf(!isKnown)('the previous release', () => {
  let built: Awaited<ReturnType<typeof buildRelease>>
  let world: JourneyWorld
  beforeAll(async () => {
    built = await buildRelease(release?.commit ?? '')
    world = await startJourneys({ networks: ['base-mainnet'], from: { folder: built.dist } })
  })
  afterAll(async () => {
    await world?.stop()
    await built?.remove()
  })

  test('migrations: the api and the worker of the last release complete orders on today’s schema', {
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
