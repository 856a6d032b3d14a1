import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { emitMessages, emitToUser } from '../support/emit-messages.ts'
import { type OpenStream, openStream } from '../support/event-stream.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { until } from '../support/until.ts'

const MAX_STREAMS = 5

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

async function listen(options: Parameters<typeof openStream>[1]): Promise<OpenStream> {
  const stream = await openStream(market.url, options)
  onTestFinished(() => stream.close())
  return stream
}

const idsOf = (stream: OpenStream) => stream.frames.map(({ id }) => id)
const codeOf = async (stream: OpenStream) => {
  await stream.ended
  return (JSON.parse(stream.text()) as { code: string }).code
}

test('409: a Last-Event-ID that the database lost is told where to continue, and nothing is skipped', async () => {
  const { id, apiKey } = await makeAgent(market)
  await emitMessages(market.db, id, 'one', 'two')
  const open = await listen({ bearer: apiKey })
  await open.until(2)
  // What a restore does: the last event is gone, and the counter is that of an earlier epoch.
  await market.db.deleteFrom('events').where('agent_id', '=', id).where('seq', '=', 2n).execute()
  await market.db
    .updateTable('event_counters')
    .set({ last_seq: 1n, database_epoch: 'an earlier one' })
    .where('agent_id', '=', id)
    .execute()
  await emitMessages(market.db, id, 'after the restore')
  await open.ended
  expect(idsOf(open)).toEqual(['1', '2'])
  const rejected = await listen({ bearer: apiKey, lastEventId: '2' })
  expect(rejected.status).toBe(409)
  await rejected.ended
  const body = JSON.parse(rejected.text()) as { code: string; next_cursor: string }
  expect(body).toMatchObject({ code: 'cursor_reset', next_cursor: '1' })
  const again = await listen({ bearer: apiKey, lastEventId: body.next_cursor })
  const [event] = await again.until(1)
  expect(event?.data.data.content).toBe('after the restore')
  expect(Number(event?.id)).toBeGreaterThan(1_000_000)
})

test('sends earlier and later events in order, each with its cursor as id', async () => {
  const { id, apiKey } = await makeAgent(market)
  await emitMessages(market.db, id, 'before')
  const stream = await listen({ bearer: apiKey })
  expect(stream.status).toBe(200)
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-ratelimit-limit': '600',
  })
  await stream.until(1)
  await emitMessages(market.db, id, 'after')
  const [first, second] = await stream.until(2)
  for (const [frame, cursor, content] of [
    [first, '1', 'before'],
    [second, '2', 'after'],
  ] as const) {
    expect(frame).toMatchObject({ id: cursor, event: 'order.message' })
    expect(frame?.data).toEqual({
      cursor,
      event: 'order.message',
      order_id: 'ord_1',
      data: { sender_type: 'client', sender_name: 'A Client', content },
      created_at: expect.stringMatching(INSTANT),
    })
  }
  expect(stream.text()).toMatch(/^retry: 2000\n\n/)
  const listed = (await market.client().get('/api/events', { bearer: apiKey })).body.data
  expect(stream.frames.map(({ data }) => data)).toEqual(listed)
})

test('sends an event within a second of its commit', async () => {
  const { id, apiKey } = await makeAgent(market)
  const stream = await listen({ bearer: apiKey })
  for (let n = 0; n < 8; n++) {
    await emitMessages(market.db, id, `message ${n}`)
    const committedAt = performance.now()
    await stream.until(n + 1, 1_000)
    expect((stream.frames[n]?.at ?? Number.NaN) - committedAt).toBeLessThan(1_000)
  }
})

test('text that looks like a frame does not start a new one', async () => {
  const { id, apiKey } = await makeAgent(market)
  const content = 'a\n\nid: 99\nevent: order.paid\ndata: {}\n\n: b\r\n\u2028c'
  await emitMessages(market.db, id, content, 'next')
  const stream = await listen({ bearer: apiKey })
  await stream.until(2)
  expect(idsOf(stream)).toEqual(['1', '2'])
  expect(stream.frames[0]?.data.data.content).toBe(content)
})

test('a client that reconnects with its last cursor gets every later event once', async () => {
  const { id, apiKey } = await makeAgent(market)
  await emitMessages(market.db, id, 'a', 'b', 'c')
  const first = await listen({ bearer: apiKey })
  await first.until(3)
  first.close()
  await emitMessages(market.db, id, 'd', 'e')
  for (const ask of [{ lastEventId: '3' }, { after: '3' }, { after: '1', lastEventId: '3' }]) {
    const again = await listen({ bearer: apiKey, ...ask })
    await again.until(2)
    expect(idsOf(again)).toEqual(['4', '5'])
    again.close()
  }
  const ahead = await listen({ bearer: apiKey, after: '5' })
  await emitMessages(market.db, id, 'f')
  await ahead.until(1)
  expect(idsOf(ahead)).toEqual(['6'])
})

test('sends more events than one batch', async () => {
  const { id, apiKey } = await makeAgent(market)
  await emitMessages(market.db, id, ...Array.from({ length: 250 }, (_, n) => `message ${n}`))
  const stream = await listen({ bearer: apiKey })
  await stream.until(250)
  expect(idsOf(stream)).toEqual(Array.from({ length: 250 }, (_, n) => String(n + 1)))
})

test('two agents never see each other’s events', async () => {
  const agents = [await makeAgent(market), await makeAgent(market)] as const
  const streams = [
    await listen({ bearer: agents[0].apiKey }),
    await listen({ bearer: agents[1].apiKey }),
  ] as const
  for (let n = 0; n < 10; n++) {
    await Promise.all([
      emitMessages(market.db, agents[0].id, 'of the first'),
      emitMessages(market.db, agents[1].id, 'of the second'),
    ])
  }
  for (const [index, own] of ['of the first', 'of the second'].entries()) {
    const frames = (await streams[index]?.until(10)) ?? []
    expect(frames).toHaveLength(10)
    expect(new Set(frames.map(({ data }) => data.data.content))).toEqual(new Set([own]))
  }
})

test('streams of one agent at different cursors do not delay each other', async () => {
  const { id, apiKey } = await makeAgent(market)
  await emitMessages(market.db, id, 'earlier', 'earlier')
  const fromStart = await listen({ bearer: apiKey })
  const ahead = await listen({ bearer: apiKey, after: '2' })
  for (let n = 1; n <= 4; n++) {
    await emitMessages(market.db, id, `message ${n}`)
    await fromStart.until(n + 2, 1_500)
  }
  await ahead.until(4)
  expect(idsOf(ahead)).toEqual(['3', '4', '5', '6'])
})

test('returns 429 too_many_streams for the sixth stream of an agent, not for other agents', async () => {
  const { apiKey } = await makeAgent(market)
  const open = await Promise.all(Array.from({ length: MAX_STREAMS }, () => listen({ bearer: apiKey })))
  expect(open.map(({ status }) => status)).toEqual(Array(MAX_STREAMS).fill(200))
  const sixth = await listen({ bearer: apiKey })
  expect(sixth.status).toBe(429)
  expect(sixth.headers).toMatchObject({
    'retry-after': '5',
    'x-ratelimit-limit': String(MAX_STREAMS),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
  })
  expect(await codeOf(sixth)).toBe('too_many_streams')
  expect((await listen({ bearer: (await makeAgent(market)).apiKey })).status).toBe(200)

  open[0]?.close()
  await until('a stream can be opened again', async () => (await listen({ bearer: apiKey })).status === 200)
})

test('clients that disconnect at once do not count as open streams', async () => {
  const { apiKey } = await makeAgent(market)
  const { hostname, port } = new URL(market.url)
  const { connect } = await import('node:net')
  const head = `GET /api/events/stream HTTP/1.1\r\nHost: market.test\r\nAuthorization: Bearer ${apiKey}\r\n`
  for (let n = 0; n < 20; n++) {
    await new Promise<void>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => {
        socket.write(`${head}X-Forwarded-For: ${someAddress()}\r\n\r\n`, () => {
          setTimeout(() => socket.resetAndDestroy(), n)
        })
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  }
  await until('five streams can be opened', async () => {
    const open = await Promise.all(
      Array.from({ length: MAX_STREAMS }, () => openStream(market.url, { bearer: apiKey })),
    )
    for (const stream of open) stream.close()
    return open.every(({ status }) => status === 200)
  })
})

test('returns 401, 403 or 400 for missing credentials, other callers and invalid input', async () => {
  const { apiKey } = await makeAgent(market)
  const { token } = await makeUser(market)
  for (const [ask, status, code] of [
    [{}, 401, 'credentials_missing'],
    [{ bearer: `market_${'0'.repeat(49)}` }, 401, 'bad_api_key'],
    [{ headers: { authorization: 'Basic dXNlcjpwYXNz' } }, 401, 'bad_authorization'],
    [{ headers: { cookie: `idp-token=${token}`, 'sec-fetch-site': 'same-origin' } }, 400, 'role_required'],
    [{ headers: { cookie: `idp-token=${token}` }, query: '?role=buyer' }, 403, 'cross_site'],
    [{ bearer: token }, 400, 'role_required'],
    [{ bearer: apiKey, query: '?role=owner' }, 400, 'invalid_input'],
    [{ bearer: ADMIN_KEY }, 403, 'wrong_credential'],
    [{ bearer: apiKey, after: 'first' }, 400, 'invalid_input'],
    [{ bearer: apiKey, lastEventId: '-1' }, 400, 'invalid_input'],
    [{ bearer: apiKey, query: '?after=1&after=2' }, 400, 'invalid_input'],
    [{ bearer: apiKey, query: '?surplus=1' }, 400, 'invalid_input'],
  ] as const) {
    const stream = await listen(ask)
    expect([stream.status, await codeOf(stream)]).toEqual([status, code])
    expect(stream.headers['content-type']).toMatch(/^application\/json/)
    expect(stream.headers['x-ratelimit-limit']).toBe('600')
  }
})

test('role=buyer: streams the events of the user, also by the session cookie, and continues after Last-Event-ID', async () => {
  const { sub, token } = await makeUser(market)
  const other = await makeUser(market)
  await emitToUser(market.db, sub, 'ord_1')
  const query = '?role=buyer'
  const stream = await listen({ bearer: token, query })
  const othersStream = await listen({ bearer: other.token, query })
  await stream.until(1)
  await emitToUser(market.db, sub, 'ord_2', 'ord_3')
  await stream.until(3)
  expect(stream.frames.map(({ id, event, data }) => [id, event, data.order_id])).toEqual([
    ['1', 'order.accepted', 'ord_1'],
    ['2', 'order.accepted', 'ord_2'],
    ['3', 'order.accepted', 'ord_3'],
  ])
  stream.close()
  const cookie = { cookie: `idp-token=${token}`, 'sec-fetch-site': 'same-origin' }
  const again = await listen({ headers: cookie, query, lastEventId: '2' })
  await again.until(1)
  expect(idsOf(again)).toEqual(['3'])
  expect(othersStream.frames).toEqual([])
})

test('role=buyer: an agent’s streams as a seller and as a buyer have their own events', async () => {
  const { id, apiKey } = await makeAgent(market)
  const selling = await listen({ bearer: apiKey })
  const buying = await listen({ bearer: apiKey, query: '?role=buyer' })
  await emitMessages(market.db, id, 'to the seller')
  await selling.until(1)
  await emitMessages(market.db, id, 'once more')
  await selling.until(2)
  expect(buying.frames).toEqual([])
})
