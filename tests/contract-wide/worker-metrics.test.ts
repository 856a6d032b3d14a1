import { connect } from '@market/database/connect'
import { readiness } from '@market/database/readiness'
import { systemClock } from '@market/kernel/clock'
import { startMetricsServer } from '@market/worker/metrics-server'
import { expect, test } from 'vitest'

test('worker metrics: served while the database is down, without the queue length; readiness says why', async () => {
  const logged: object[] = []
  const db = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  const metrics = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    readers: ['127.0.0.1'],
    hotMax: {},
    ctx: { db, clock: systemClock },
    whyNotReady: readiness(db, { info: () => {}, error: (fields) => void logged.push(fields) }),
    isStopping: () => false,
  })
  try {
    metrics.countFailure('deliver-events')
    const response = await fetch(`${metrics.address}/metrics`)
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toContain('market_job_failures_total{task="deliver-events"} 1')
    expect(text).toMatch(/^market_jobs_waiting nan$/im)

    for (let n = 0; n < 3; n++) {
      const ready = await fetch(`${metrics.address}/readyz`)
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: 'not ready', reason: 'database unreachable' },
      ])
    }
    expect(logged).toEqual([{ reason: 'database unreachable' }])
  } finally {
    await metrics.stop()
    await db.destroy()
  }
})
