import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { HOST, randomPort } from './ports.ts'
import { type RunningProcess, startSupervised } from './supervised-server.ts'

export interface FoundRedis {
  readonly url: string
  /** Set when this run started the server. */
  readonly own?: RunningProcess
}

const START_ATTEMPTS = 10
const TIMEOUT_MS = 2_000

/** Uses `url`, else the server on the default port, else starts one. */
export async function findRedis(url: string | undefined): Promise<FoundRedis> {
  const defaultUrl = `redis://${HOST}:6379`
  if (await isReachable(url ?? defaultUrl)) return { url: url ?? defaultUrl }
  if (url !== undefined) throw new Error(`REDIS_URL cannot be used: no reply within ${TIMEOUT_MS} ms`)
  return await startRedis()
}

/** Deletes the keys of one run in a Redis that others use too. */
export async function deleteKeys(url: string, prefix: string): Promise<void> {
  await withRedis(url, async (redis) => {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000)
      if (keys.length > 0) await redis.unlink(...keys)
      cursor = next
    } while (cursor !== '0')
  })
}

async function isReachable(url: string): Promise<boolean> {
  try {
    return (await withRedis(url, (redis) => redis.ping())) === 'PONG'
  } catch {
    return false
  }
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
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
    const port = randomPort()
    const memoryOnly = ['--save', '', '--appendonly', 'no']
    const args = ['--bind', HOST, '--port', String(port), '--dir', folder, ...memoryOnly]
    const own = await startSupervised(
      { program: 'redis-server', args, folder },
      'Ready to accept connections',
    )
    if (own !== undefined) return { url: `redis://${HOST}:${port}`, own }
  }
  throw new Error('Redis is not running and could not be started. Install redis-server or set REDIS_URL.')
}
