import { LIMITS, type LimitName } from '@market/contract/limits'
import type { Limiter } from '@market/core/ports/limiter'
import { expect, test } from 'vitest'
import { type Counted, limit } from './limit.ts'

const AGENT = { actor: { kind: 'agent', agentId: 'agt_1' } } as unknown as NonNullable<Counted['caller']>
const V6 = '2001:db8:1:abcd::/64'
const clock = { now: () => new Date(0), wallTime: () => new Date(0) }

/** The counters of a call: the name of the rule, for whom it counts, and the maximum. */
async function countersOf(name: LimitName, counted: Counted, cost?: number) {
  const counters: (string | number)[][] = []
  const limiter: Limiter = {
    consume: async (rule, subject, { cost: each, wider = [] } = {}) => {
      for (const one of [{ rule, subject }, ...wider])
        counters.push([one.rule.name, one.subject, one.rule.max, each ?? 0])
      return { allowed: true, remaining: 1, resetsInMs: 1 }
    },
  }
  await limit({ limiter, clock }, { limit: name }, counted, cost)
  return counters
}

test.each(Object.keys(LIMITS) as LimitName[])('%s: counts for the /64, the /56 and the /48', async (name) => {
  const { max } = LIMITS[name]
  expect(await countersOf(name, { address: V6 })).toEqual([
    [name, V6, max, 1],
    [`${name}/56`, '2001:db8:1:ab00::/56', max * 4, 1],
    [`${name}/48`, '2001:db8:1::/48', max * 12, 1],
  ])
})

test('a call with an API key over MCP counts for the key, and twice as generously for its address (asvs V2.2)', async () => {
  const counted = { address: 'agent:agt_1', client: '192.0.2.1', caller: AGENT }
  expect(await countersOf('read', counted, 3)).toEqual([
    ['read', 'agent:agt_1', 600, 3],
    ['read/key/address', '192.0.2.1', 1_200, 3],
  ])
})

test('a call of a connected program counts 20 times as generously for its address', async () => {
  const counted = { address: 'agent:agt_1', client: V6, caller: { ...AGENT, scopes: ['market:read'] } }
  expect(await countersOf('read', counted)).toEqual([
    ['read', 'agent:agt_1', 600, 1],
    ['read/connection/address', V6, 12_000, 1],
    ['read/connection/56', '2001:db8:1:ab00::/56', 48_000, 1],
    ['read/connection/48', '2001:db8:1::/48', 144_000, 1],
  ])
})

test.each([
  [undefined, 'Too many requests: at most 600 in a minute. Try again in 9 seconds.'],
  [
    'http://127.0.0.1:4001/limits/reset',
    'Too many requests: at most 600 in a minute. Try again in 9 seconds. To allow more on this machine, run `curl -X POST http://127.0.0.1:4001/limits/reset`.',
  ],
])(
  '429: says when to try again, and how to reset the limits where that is possible (%s)',
  async (resetUrl, message) => {
    const limiter = { resetUrl, consume: async () => ({ allowed: false, remaining: 0, resetsInMs: 9_000 }) }
    const { apiError } = await limit({ limiter, clock }, { limit: 'read' }, { address: V6 })
    expect(apiError?.message).toBe(message)
  },
)
