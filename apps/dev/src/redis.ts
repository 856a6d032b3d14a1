import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type Running, startLeashed } from './leash.ts'
import { HOST, somePort } from './ports.ts'

export interface FoundRedis {
  readonly url: string
  /** Present when the server was started by us. */
  readonly own?: Running
}

const START_ATTEMPTS = 10
const ANSWER_WITHIN_MS = 2_000

/** The one named, else the one usually there, else one of our own. */
export async function findRedis(url: string | undefined): Promise<FoundRedis> {
  const usual = `redis://${HOST}:6379`
  if (await answers(url ?? usual)) return { url: url ?? usual }
  if (url !== undefined) throw new Error('REDIS_URL cannot be used: nothing answers there')
  return await startRedis()
}

/** Removes what one run wrote into a Redis it shares with others. */
export async function forgetKeys(url: string, prefix: string): Promise<void> {
  await withRedis(url, async (redis) => {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000)
      if (keys.length > 0) await redis.unlink(...keys)
      cursor = next
    } while (cursor !== '0')
  })
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await withRedis(url, (redis) => redis.ping())) === 'PONG'
  } catch {
    return false
  }
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_WITHIN_MS,
    commandTimeout: ANSWER_WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

export async function startRedis(): Promise<FoundRedis> {
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), 'market-dev-redis-'))
    const port = somePort()
    const memoryOnly = ['--save', '', '--appendonly', 'no']
    const args = ['--bind', HOST, '--port', String(port), '--dir', folder, ...memoryOnly]
    const own = await startLeashed({ program: 'redis-server', args, folder }, 'Ready to accept connections')
    if (own !== undefined) return { url: `redis://${HOST}:${port}`, own }
  }
  throw new Error('No Redis is running here and none could be started: install redis-server or set REDIS_URL')
}
