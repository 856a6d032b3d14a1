import { isWrite } from '@market/contract/define'
import { LIMITS } from '@market/contract/limits'
import { expect, test } from 'vitest'
import { type Reply, someAddress } from './client.ts'
import { type Subject, send, successOf } from './good-call.ts'
import { refused } from './refused.ts'

const BATCH = 20

async function inBatches(count: number, ask: () => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = []
  while (replies.length < count) {
    const size = Math.min(BATCH, count - replies.length)
    replies.push(...(await Promise.all(Array.from({ length: size }, ask))))
  }
  return replies
}

const remainingOf = (reply: Reply): number => Number(reply.headers.get('x-ratelimit-remaining'))

const secondsUp = (ms: number): number => Math.ceil(ms / 1_000)

function between(header: string | null, low: number, high: number): void {
  expect(Number(header)).toBeGreaterThanOrEqual(low)
  expect(Number(header)).toBeLessThanOrEqual(high)
}

/** Uses up the real limit of one address, and holds the four headers against the clock. */
export function refusesTooMany(subject: Subject): void {
  const { market, operation } = subject
  const { max, windowSeconds } = LIMITS[operation.limit]
  const windowMs = windowSeconds * 1_000

  test(`429: call ${max + 1} of one address in ${windowSeconds} seconds, told to the second when to come back`, async () => {
    const call = await subject.good()
    const from = someAddress()
    // Refused for other reasons, but counted all the same, and cheap.
    const spend = () =>
      isWrite(operation)
        ? market()
            .client()
            .send(operation.method, call.path, { from, body: { surplus: true } })
        : market()
            .client()
            .get(`${call.path.split('?')[0]}?surplus=1`, { from })
    const before = market().now()
    const first = await spend()
    const opened = market().now()
    const replies = [first, ...(await inBatches(max - 1, spend))]
    expect(replies.filter(({ status }) => status === 429)).toEqual([])
    expect(replies.map(remainingOf).sort((a, b) => b - a)).toEqual(
      Array.from({ length: max }, (_, at) => max - 1 - at),
    )

    const asked = market().now()
    const reply = await send(subject, call, { from })
    const answered = market().now()
    refused(reply, 429, 'rate_limited')
    expect(reply.headers.get('x-ratelimit-limit')).toBe(String(max))
    expect(reply.headers.get('x-ratelimit-remaining')).toBe('0')
    // Only what the clock ticked while the two calls were under way is left open, and a millisecond of rounding.
    const closes = [before + windowMs - 1, opened + windowMs + 1] as const
    between(
      reply.headers.get('x-ratelimit-reset'),
      secondsUp(closes[0]),
      secondsUp(closes[1] + answered - asked),
    )
    between(reply.headers.get('retry-after'), secondsUp(closes[0] - answered), secondsUp(closes[1] - asked))

    const elsewhere = await send(subject, call)
    expect(elsewhere.status).toBe(successOf(operation))
    expect(remainingOf(elsewhere)).toBe(max - 1)
  })
}
