import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { LimitResult, LimitRule } from '@market/core/ports/limiter'
import { countScriptCalls, type OwnRedis, redisPrefix, startRedis } from '@market/testing/redis'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type RedisLimiter, redisLimiter } from './limiter.ts'

const RULE: LimitRule = { name: 'register', max: 5, windowSeconds: 60 }

let server: OwnRedis
const started: RedisLimiter[] = []

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
afterEach(async () => {
  for (const limiter of started.splice(0)) await limiter.stop()
})

function start(url = server.url, prefix = redisPrefix()) {
  const seen = { fallbacks: 0, warnings: 0, limiter: undefined as unknown as RedisLimiter }
  seen.limiter = redisLimiter({
    url,
    prefix,
    onFallback: () => {
      seen.fallbacks += 1
    },
    log: {
      warn: () => {
        seen.warnings += 1
      },
    },
  })
  started.push(seen.limiter)
  return seen
}

const takeMany = (
  limiter: RedisLimiter,
  times: number,
  subject: string = randomUUID(),
  rule = RULE,
): Promise<LimitResult[]> => Promise.all(Array.from({ length: times }, () => limiter.consume(rule, subject)))

const allowed = (all: readonly LimitResult[]): number => all.filter((taken) => taken.allowed).length

async function untilReady(limiter: RedisLimiter): Promise<void> {
  while (!(await limiter.ready())) await new Promise((resolve) => setImmediate(resolve))
}

describe('while Redis is available', () => {
  test('allows exactly max calls in a window and returns how many remain', async () => {
    const { limiter } = start()
    const subject = randomUUID()
    for (const remaining of [4, 3, 2, 1, 0]) {
      expect(await limiter.consume(RULE, subject)).toMatchObject({ allowed: true, remaining })
    }
    const sixth = await limiter.consume(RULE, subject)
    expect(sixth).toMatchObject({ allowed: false, remaining: 0 })
    expect(sixth.resetsInMs).toBeGreaterThan(50_000)
    expect(sixth.resetsInMs).toBeLessThanOrEqual(60_000)
  })

  test('each rule and subject has its own counter', async () => {
    const { limiter } = start()
    expect(allowed(await takeMany(limiter, 9, 'one'))).toBe(5)
    expect(allowed(await takeMany(limiter, 9, 'two'))).toBe(5)
    expect(allowed(await takeMany(limiter, 9, 'one', { ...RULE, name: 'orders' }))).toBe(5)
    const long = 'x'.repeat(5_000)
    expect(allowed(await takeMany(limiter, 9, `${long}a`))).toBe(5)
    expect(allowed(await takeMany(limiter, 9, `${long}b`))).toBe(5)
  })

  test.each([
    ['in Redis', () => start()],
    ['in the process', () => start('redis://127.0.0.1:1')],
  ])(
    '%s: a call counts with its cost, and for wider rules only while the rule before allows it',
    async (_, make) => {
      const { limiter } = make()
      const wide = { name: 'wide', max: 12, windowSeconds: 60 }
      const group = randomUUID()
      const take = (subject: string, cost: number) =>
        limiter.consume(RULE, subject, { cost, wider: [{ rule: wide, subject: group }] })
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()]
      expect(await take(one, 5)).toMatchObject({ allowed: true, remaining: 0 })
      const own = await take(one, 5)
      expect([own.allowed, own.rejectedBy]).toEqual([false, undefined])
      expect(await take(two, 5)).toMatchObject({ allowed: true })
      expect(await take(three, 3)).toMatchObject({ allowed: false, remaining: 0, rejectedBy: wide })
    },
  )

  test('the window starts with the first call, and rejected calls do not extend it', async () => {
    const prefix = redisPrefix()
    const { limiter } = start(server.url, prefix)
    const rule = { name: 'short', max: 1, windowSeconds: 1 }
    const first = await limiter.consume(rule, 'a')
    expect(first).toMatchObject({ allowed: true, resetsInMs: 1_000 })
    let last = await limiter.consume(rule, 'a')
    expect(last.allowed).toBe(false)
    while (!last.allowed) last = await limiter.consume(rule, 'a')
    expect(last.resetsInMs).toBe(1_000)
  })

  test('sets the expiry of a counter that has none', async () => {
    const prefix = redisPrefix()
    const { limiter } = start(server.url, prefix)
    const direct = new Redis(server.url)
    await direct.set(`${prefix}limit:register|stuck`, '99')
    expect((await limiter.consume(RULE, 'stuck')).resetsInMs).toBeLessThanOrEqual(60_000)
    expect(await direct.pttl(`${prefix}limit:register|stuck`)).toBeGreaterThan(0)
    direct.disconnect()
  })

  test('two processes with 50 concurrent calls each allow exactly max in total', async () => {
    const prefix = redisPrefix()
    const counts = await Promise.all([takeInOtherProcess(prefix, 50), takeInOtherProcess(prefix, 50)])
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20)
  })

  test('requests of one turn of the event loop share one Redis call', async () => {
    const { limiter } = start()
    await untilReady(limiter)
    await limiter.consume(RULE, 'script is loaded')
    const before = await countScriptCalls(server.url)
    expect(allowed(await takeMany(limiter, 100, 'one turn'))).toBe(5)
    expect((await countScriptCalls(server.url)) - before).toBe(1)
  })

  test('more requests than fit into one call are counted exactly', async () => {
    const { limiter } = start()
    const rule = { name: 'many', max: 250, windowSeconds: 60 }
    const taken = await takeMany(limiter, 400, 'ip', rule)
    expect(allowed(taken)).toBe(250)
    const remaining = taken.filter((one) => one.allowed).map((one) => one.remaining)
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, n) => n))
  })

  test('no call uses the fallback and no warning is logged', async () => {
    const seen = start()
    await takeMany(seen.limiter, 200)
    expect(seen).toMatchObject({ fallbacks: 0, warnings: 0 })
  })
})

describe('while Redis is unavailable', () => {
  test('limits per process with the same numbers when Redis was never reachable', async () => {
    const seen = start('redis://127.0.0.1:1')
    expect(allowed(await takeMany(seen.limiter, 20))).toBe(5)
    expect(seen.fallbacks).toBe(20)
    expect(seen.warnings).toBe(1)
    expect(await seen.limiter.ready()).toBe(false)
  })

  test('continues the count after Redis was killed, and uses Redis again after its restart', async () => {
    const seen = start()
    expect(allowed(await takeMany(seen.limiter, 3, 'ip'))).toBe(3)
    await server.kill()
    expect(allowed(await takeMany(seen.limiter, 10, 'ip'))).toBe(2)
    expect(allowed(await takeMany(seen.limiter, 10, 'other'))).toBe(5)
    expect(seen.fallbacks).toBe(20)

    await server.restart()
    await untilReady(seen.limiter)
    expect(allowed(await takeMany(seen.limiter, 10, 'fresh'))).toBe(5)
    expect(seen.fallbacks).toBe(20)
  })

  test('a hanging Redis delays a call no longer than the deadline and is used again afterwards', async () => {
    const seen = start()
    await untilReady(seen.limiter)
    server.pause()
    const began = performance.now()
    expect(allowed(await takeMany(seen.limiter, 50, 'hung'))).toBe(5)
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(seen.fallbacks).toBe(50)
    expect(await seen.limiter.ready()).toBe(false)

    server.resume()
    await untilReady(seen.limiter)
    const before = seen.fallbacks
    expect(allowed(await takeMany(seen.limiter, 10, 'after'))).toBe(5)
    expect(seen.fallbacks).toBe(before)
  })

  test('limits per process when the server accepts connections but does not respond', async () => {
    const sockets = new Set<Socket>()
    const hole = createServer((socket) => sockets.add(socket.on('error', () => socket.destroy())))
    await once(hole.listen(0, '127.0.0.1'), 'listening')
    const address = hole.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0

    const seen = start(`redis://127.0.0.1:${port}`)
    expect(allowed(await takeMany(seen.limiter, 20))).toBe(5)
    expect(seen.fallbacks).toBe(20)
    await seen.limiter.stop()
    for (const socket of sockets) socket.destroy()
    hole.close()
  })

  test('limits per process when Redis returns errors', async () => {
    const prefix = redisPrefix()
    const seen = start(server.url, prefix)
    const direct = new Redis(server.url)
    await direct.lpush(`${prefix}limit:register|list`, 'not a number')
    expect(allowed(await takeMany(seen.limiter, 20, 'list'))).toBe(5)
    expect(seen.fallbacks).toBe(20)
    direct.disconnect()
  })
})

/** Runs a limiter in another Node process and returns how many of its calls were allowed. */
async function takeInOtherProcess(prefix: string, times: number): Promise<number> {
  const script = `
    const { redisLimiter } = await import(${JSON.stringify(new URL('./limiter.ts', import.meta.url).href)})
    const limiter = redisLimiter({ url: '${server.url}', prefix: '${prefix}', onFallback() { process.exit(3) } })
    while (!(await limiter.ready())) await new Promise((resolve) => setImmediate(resolve))
    const rule = { name: 'shared', max: 20, windowSeconds: 60 }
    const all = await Promise.all(Array.from({ length: ${times} }, () => limiter.consume(rule, 'ip')))
    process.stdout.write(String(all.filter((taken) => taken.allowed).length))
    await limiter.stop()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the other process ended with ${code}`)
  return Number(said)
}
