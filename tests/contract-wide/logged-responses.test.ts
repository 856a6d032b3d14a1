import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { APP_URL } from '../support/settings.ts'
import { until } from '../support/until.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const metrics = async () => (await fetch(`${market.url}/metrics`)).text()

/** Requests in flight, without the one that reads the metrics. */
const inFlight = async () => Number(/^market_requests_in_flight (-?\d+)$/m.exec(await metrics())?.[1]) - 1

const linesOf = (operation: string) =>
  market
    .logText()
    .split('\n')
    .filter((line) => line.includes(`"operation":"${operation}"`))

async function openAndDisconnect(apiKey: string) {
  const { hostname, port } = new URL(market.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(`GET /api/events/stream HTTP/1.1\r\nHost: market\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`)
  await once(socket, 'data')
  socket.destroy()
}

test('request log: a stream that the client closes is logged, counted and no longer in flight', async () => {
  const { apiKey } = await makeAgent(market)
  for (let n = 0; n < 3; n++) await openAndDisconnect(apiKey)
  await until('three lines in the log', () => linesOf('streamEvents').length === 3)
  expect(await inFlight()).toBe(0)
  expect(await metrics()).toContain('market_requests_total{operation="streamEvents",status="200"} 3')
})

test('request log: a preflight is logged, and the in-flight gauge returns to zero', async () => {
  const before = linesOf('other').length
  const headers = { origin: APP_URL, 'access-control-request-method': 'POST' }
  const response = await fetch(`${market.url}/api/agents/register`, { method: 'OPTIONS', headers })
  expect(response.status).toBe(204)
  const isLogged = () => linesOf('other').slice(before).join().includes('"method":"OPTIONS"')
  await until('a line in the log', isLogged)
  expect(await inFlight()).toBe(0)
})
