import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Market } from './market.ts'
import { OrderWorker } from './order-worker.ts'

/** Works on one order at a server that responds to deliveries with these statuses; each event adds the order again. */
async function workWith(statuses: readonly number[], events: number) {
  let deliveries = 0
  let works = 0
  const errors: unknown[] = []
  const order = { id: 'ord_1', service_id: 'svc_1', status: 'paid', quota_total: null, contested_at: null }
  const server = createServer((request, response) => {
    request.resume()
    const status = request.method === 'GET' ? 200 : (statuses[deliveries++] ?? 200)
    const data = { order: { ...order, revision_count: 0 } }
    response.writeHead(status).end(JSON.stringify({ success: true, data, code: 'x', error: 'No.' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const market = new Market({ apiUrl, apiKey: 'market_x', retries: 0 })
  const options = {
    service: 'svc_1',
    work: () => `${++works}`,
    onError: (error: unknown) => errors.push(error),
  }
  const worker = new OrderWorker(market, 'svc_1', options, new AbortController().signal)
  for (let event = 0; event < events; event++) {
    worker.add('ord_1')
    await worker.settled()
  }
  server.closeAllConnections()
  server.close()
  return { deliveries, works, errors: errors.length }
}

test('a delivery that fails is repeated without the work', async () => {
  expect(await workWith([503, 403], 1)).toEqual({ deliveries: 3, works: 1, errors: 2 })
})

test.each([400, 413])(
  'a result that is rejected with %i is reported and not tried again before an event',
  async (status) => {
    expect(await workWith([status], 1)).toEqual({ deliveries: 1, works: 1, errors: 1 })
    expect(await workWith([status], 2)).toEqual({ deliveries: 2, works: 2, errors: 1 })
  },
)
