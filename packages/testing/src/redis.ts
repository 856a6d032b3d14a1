import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

export interface OwnRedis {
  readonly url: string
  /** SIGKILL: connections break and new ones are refused. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open and new ones are accepted, but there is no response. */
  pause(): void
  resume(): void
  /** Starts again, empty, on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Below the range from which the kernel hands out ports for outgoing connections and for port 0. */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000
const START_ATTEMPTS = 20

/** A unique key prefix for a test that shares Redis with others. */
export const redisPrefix = (): string => `test:${randomUUID()}:`

/** Number of scripts that this Redis ran. Commands inside a script are not counted. */
export async function countScriptCalls(url: string): Promise<number> {
  const redis = new Redis(url)
  const stats = await redis.info('commandstats')
  redis.disconnect()
  const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].map((match) => Number(match[1]))
  return calls.reduce((sum, count) => sum + count, 0)
}

/** Starts a separate Redis for tests that stop it. */
export async function startRedis(): Promise<OwnRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'market-redis-'))
  let { server, port } = await startOnFreePort(folder)

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    async restart() {
      await kill()
      const again = await startServer(folder, port)
      if (again === null) throw new Error(`redis-server did not restart on port ${port}`)
      server = again
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startOnFreePort(folder: string): Promise<{ server: ChildProcess; port: number }> {
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT)
    const server = await startServer(folder, port)
    if (server !== null) return { server, port }
  }
  throw new Error('redis-server found no free port')
}

/** Null when the process ended before it was ready, for example because the port is in use. */
async function startServer(folder: string, port: number): Promise<ChildProcess | null> {
  const memoryOnly = ['--save', '', '--appendonly', 'no']
  const server = spawn(
    'redis-server',
    ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, ...memoryOnly],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  // Stops the server when the test process ends.
  const killServer = () => void server.kill('SIGKILL')
  process.once('exit', killServer)
  server.once('exit', () => process.off('exit', killServer))

  return await new Promise((resolve, reject) => {
    let said = ''
    server.once('error', reject)
    server.once('exit', () => resolve(null))
    server.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('Ready to accept connections')) resolve(server)
    })
  })
}
