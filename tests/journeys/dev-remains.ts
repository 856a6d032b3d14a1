import { asAdmin } from '@market/testing/template-database'
import { Redis } from 'ioredis'
import { afterEach, expect, vi } from 'vitest'
import { alive, type Dev, startDev } from './dev-process.ts'

const running: Dev[] = []
export async function start(args: readonly string[] = []): Promise<Dev> {
  const dev = await startDev(args)
  running.push(dev)
  return dev
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((dev) => dev.clear()))
})

export const databaseExists = (name: string) =>
  asAdmin(async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    return rowCount === 1
  })

/** Postgres notices a killed client only when it next reads from its connection. */
export const untilDisconnected = (name: string) =>
  vi.waitFor(
    () =>
      asAdmin(async (client) => {
        const { rowCount } = await client.query('select from pg_stat_activity where application_name = $1', [
          name,
        ])
        expect(rowCount).toBe(0)
      }),
    LONG,
  )

export async function redisKeys(dev: Dev): Promise<number> {
  const redis = new Redis(dev.at.redis)
  try {
    return (await redis.keys(`${dev.run}:*`)).length
  } finally {
    redis.disconnect()
  }
}

export async function expectNothingLeft(dev: Dev, processes: readonly number[]): Promise<void> {
  expect(alive(processes)).toEqual([])
  expect(await databaseExists(dev.run)).toBe(false)
  expect(await redisKeys(dev)).toBe(0)
  expect(dev.leftFiles()).toEqual([])
  expect(dev.said.err).toBe('')
}

/** More than it takes: a busy machine needs time to start processes. */
export const LONG = { timeout: 120_000, interval: 50 }

export const untilGone = (pids: readonly number[]) => vi.waitFor(() => expect(alive(pids)).toEqual([]), LONG)
