import { expect, test } from 'vitest'
import { runBundled, startMarket } from '../support/market.ts'
import { until } from '../support/until.ts'

test('logs: api and worker write JSON only, each field once, and no warning in a start without problems', async () => {
  const market = await startMarket({}, { run: (environment) => runBundled(environment) })
  try {
    const worker = await market.startWorker()
    expect((await market.client().get('/api/config')).status).toBe(200)
    await until('the worker is ready', async () => (await fetch(`${worker.url}/readyz`)).status === 200)
    const initialize = { jsonrpc: '2.0', id: 1, method: 'ping' }
    await market
      .client()
      .post('/mcp', initialize, { headers: { accept: 'application/json, text/event-stream' } })
    await until('both have logged', () =>
      [market.logText(), worker.output()].every((text) => text.includes('"ready"')),
    )
    for (const output of [market.logText(), worker.output()]) {
      const lines = output.split('\n').filter((line) => line !== '')
      expect(lines.filter((line) => !isJson(line))).toEqual([])
      expect(lines.filter((line) => line.split('"level":').length !== 2)).toEqual([])
      expect(lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([])
      expect(new Set(lines).size).toBe(lines.length)
    }
  } finally {
    await market.stop()
  }
})

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}
