import { LIMITS } from '@market/contract/limits'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Reply, someAddress } from '../support/client.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

/** Rate limits of the purchase routes per address. */

const SERVICE = 'svc_1700000000000_00000000000000000'
const BATCH = 20

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const left = ({ headers }: Reply) => Number(headers.get('x-ratelimit-remaining'))

const DISCOVER = LIMITS['x402.discover'].max
const PAY = LIMITS['x402.pay'].max

const ROUTES = [
  [`/api/x402/discover/${SERVICE}`, DISCOVER],
  [`/api/x402/discover?service_id=${SERVICE}`, DISCOVER],
  [`/api/x402/pay?service_id=${SERVICE}`, PAY],
  [`/api/x402/v1/pay?service_id=${SERVICE}`, PAY],
] as const

describe.each(ROUTES)('%s', (path, max) => {
  test('an unreadable payment counts against the limit and returns the limit headers', async () => {
    const from = someAddress()
    const post = (body: string, type = 'application/json') =>
      market.client().post(path, body, { from, headers: { 'content-type': type } })
    const replies = [
      await post('{'),
      await post(JSON.stringify({ brief: 'x'.repeat(257 * 1024) })),
      await post('brief=x', 'application/x-www-form-urlencoded'),
      await post('{}'),
    ]
    expect(replies.map(({ status }) => status)).toEqual([400, 413, 415, 404])
    expect(replies[0]?.body.code).toBe('bad_json')
    expect(replies.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(Array(4).fill(String(max)))
    expect(replies.map(left)).toEqual([max - 1, max - 2, max - 3, max - 4])
    for (const { headers } of replies) expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(0)
  })
})

/** Uses up the limit of an address through all forms of a route in turn, which share one counter. */
async function usesUp(max: number, ways: readonly ((from: string) => Promise<Reply>)[]) {
  const from = someAddress()
  const replies: Reply[] = []
  while (replies.length < max) {
    const turn = Array.from({ length: Math.min(BATCH, max - replies.length) }, (_, at) =>
      ways[(replies.length + at) % ways.length]?.(from),
    )
    replies.push(...(await Promise.all(turn)).filter((reply) => reply !== undefined))
  }
  expect(replies.filter(({ status }) => status === 429)).toEqual([])
  expect(replies.map(left).sort((a, b) => b - a)).toEqual(
    Array.from({ length: max }, (_, at) => max - 1 - at),
  )
  for (const way of ways) {
    const reply = await way(from)
    rejected(reply, 429, 'rate_limited')
    expect(left(reply)).toBe(0)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await way(someAddress())).status).not.toBe(429)
  }
}

const get = (path: string) => (from: string) => market.client().get(path, { from })
const post = (path: string, body: unknown) => (from: string) => market.client().post(path, body, { from })

test(`429: call ${PAY + 1} of one address at pay within an hour, for every version and path form`, () =>
  usesUp(PAY, [
    post('/api/x402/pay?service_id=x', {}),
    post('/api/x402/v1/pay?service_id=x', {}),
    post('/api/x402/pay', '{'),
  ]))

test(`429: call ${DISCOVER + 1} of one address at discover within an hour: both forms share one counter`, () =>
  usesUp(DISCOVER, [
    get('/api/x402/discover/x'),
    get('/api/x402/discover?service_id=x'),
    post('/api/x402/discover/x', {}),
    post('/api/x402/discover', '{'),
  ]))
