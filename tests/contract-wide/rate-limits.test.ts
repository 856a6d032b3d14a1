import { type Operation, routesOf } from '@market/contract/define'
import { LIMITS, type LimitName } from '@market/contract/limits'
import { operationList } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Reply, type RequestOptions, someAddress } from '../support/client.ts'
import { type Market, startMarket } from '../support/market.ts'
import { requestOf } from '../support/operation-request.ts'
import { rejected } from '../support/rejected.ts'
import { plainInput } from '../support/schema-arbitraries.ts'
import { isNotConfigured } from '../support/valid-request.ts'

/**
 * Each rule is used up once, through its first operation; then the rule's other operations are rejected too.
 */

const BATCH = 20

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

/** Generating an input costs more than a call, so each operation gets one. */
const requests = new Map(
  operationList.map((operation: Operation) => {
    const { method, path } = requestOf(operation, plainInput(operation, {}))
    return [operation.id, { method, path: path.split('?')[0] ?? path }]
  }),
)

/** Rejected with 4xx because of an unknown field, but counted. */
function spend(operation: Operation, ask: RequestOptions): Promise<Reply> {
  const { method = '', path = '' } = requests.get(operation.id) ?? {}
  return operation.method === 'GET'
    ? market.client().get(`${path}?surplus=1`, ask)
    : market.client().send(method, path, { ...ask, body: { surplus: true } })
}

async function spendMany(count: number, operation: Operation, from: string): Promise<Reply[]> {
  const replies: Reply[] = []
  while (replies.length < count) {
    const size = Math.min(BATCH, count - replies.length)
    replies.push(...(await Promise.all(Array.from({ length: size }, () => spend(operation, { from })))))
  }
  return replies
}

const limitHeader = (reply: Reply, name: string): number => Number(reply.headers.get(name))
const remainingOf = (reply: Reply): number => limitHeader(reply, 'x-ratelimit-remaining')
const secondsUp = (ms: number): number => Math.ceil(ms / 1_000)

function between(value: number, low: number, high: number): void {
  expect(value).toBeGreaterThanOrEqual(low)
  expect(value).toBeLessThanOrEqual(high)
}

const operationsOf = Map.groupBy(operationList, ({ limit }) => limit)

/** Uses up the rule for one address. On a slow machine the window may end before that; then it starts again. */
async function useUp(
  operation: Operation,
): Promise<{ from: string; before: number; opened: number; replies: Reply[] }> {
  const { max, windowSeconds } = LIMITS[operation.limit]
  for (;;) {
    const from = someAddress()
    const before = market.now()
    const first = await spend(operation, { from })
    const opened = market.now()
    const replies = [first, ...(await spendMany(max - 1, operation, from))]
    if (market.now() < before + windowSeconds * 500) return { from, before, opened, replies }
  }
}

test.each([...operationsOf].map(([rule, [first]]) => ({ rule, first: first as Operation, ...LIMITS[rule] })))(
  '429: $rule rejects the call after $max of one address within $windowSeconds s, with the seconds to wait',
  { timeout: 300_000 },
  async ({ rule, first, max, windowSeconds }) => {
    const { from, before, opened, replies } = await useUp(first)
    const isRejected = ({ status }: Reply) => status >= 429 && !isNotConfigured(first, status)
    expect(replies.filter(isRejected)).toEqual([])
    // Of shared reads only the 429 has these headers.
    const left = replies.map(remainingOf).sort((a, b) => b - a)
    const counted = Array.from({ length: max }, (_, at) => max - 1 - at)
    expect(left).toEqual(first.cacheSeconds === undefined ? counted : counted.map(() => 0))

    const asked = market.now()
    const reply = await spend(first, { from })
    const answered = market.now()
    rejected(reply, 429, 'rate_limited')
    expect(limitHeader(reply, 'x-ratelimit-limit')).toBe(max)
    expect(remainingOf(reply)).toBe(0)
    // The clock advanced during the two calls; one millisecond is for rounding.
    const windowMs = windowSeconds * 1_000
    const closes = [before + windowMs - 1, opened + windowMs + 1] as const
    between(
      limitHeader(reply, 'x-ratelimit-reset'),
      secondsUp(closes[0]),
      secondsUp(closes[1] + answered - asked),
    )
    between(limitHeader(reply, 'retry-after'), secondsUp(closes[0] - answered), secondsUp(closes[1] - asked))

    const others = await Promise.all((operationsOf.get(rule) ?? []).map((other) => spend(other, { from })))
    for (const other of others) rejected(other, 429, 'rate_limited')

    const elsewhere = await spend(first, { from: someAddress() })
    expect(isRejected(elsewhere)).toBe(false)
    expect(remainingOf(elsewhere)).toBe(first.cacheSeconds === undefined ? max - 1 : 0)
  },
)

test('rate limits: every operation counts against its own rule and no other (asvs V2.2)', async () => {
  const from = someAddress()
  const spent = new Map<LimitName, number>()
  for (const operation of operationList) {
    const { id, limit: rule, cacheSeconds } = operation
    spent.set(rule, (spent.get(rule) ?? 0) + 1)
    const reply = await spend(operation, { from })
    const counted = { max: LIMITS[rule].max, left: LIMITS[rule].max - (spent.get(rule) ?? 0) }
    const shown = { max: limitHeader(reply, 'x-ratelimit-limit'), left: remainingOf(reply) }
    expect({ id, ...shown }).toEqual({ id, ...(cacheSeconds === undefined ? counted : { max: 0, left: 0 }) })
  }
})

test('rate limits: the rules without an operation are the known ones', () => {
  const used = new Set(operationList.flatMap(routesOf).map(({ limit }) => limit))
  const unused = (Object.keys(LIMITS) as LimitName[]).filter((rule) => !used.has(rule))
  expect(unused).toEqual(['mcp', 'oauth.register', 'oauth.authorize', 'chain.lookups', 'chain.signatures'])
})
