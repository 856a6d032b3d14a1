import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { GROUPS, isWrite, type Operation, routesOf } from './define.ts'
import { LIMITS } from './limits.ts'
import { operationList, operations } from './operations.ts'

const HOUR = 3_600

const shapeOf = (input: unknown): readonly string[] =>
  input instanceof z.ZodObject ? Object.keys(input.shape) : []

const keysOf = (template: string): string[] =>
  [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] ?? '')

/** Fails with the ids of the operations that break the rule, and when the rule is about none. */
function expectEach(subjects: readonly Operation[], follows: (operation: Operation) => boolean): void {
  expect(subjects).not.toEqual([])
  expect(subjects.filter((operation) => !follows(operation)).map(({ id }) => id)).toEqual([])
}

describe('operations', () => {
  test('have their key as id', () => {
    expect(Object.entries(operations).filter(([key, { id }]) => key !== id)).toEqual([])
  })

  test('are in the order of their groups and positions, and a position is used once', () => {
    const places = operationList.map(({ group, position }) => GROUPS.indexOf(group) * 1_000 + position)
    expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b))
    expectEach(operationList, ({ position }) => position > 0 && position < 1_000)
  })

  test.each([
    ['Services', 'Search services'],
    ['Orders', 'Create an order'],
    ['x402', 'Pay for a service and hire it'],
    ['Agents', 'Register an agent'],
    ['Identity', 'Sign in'],
  ])('%s begins with %s', (name, first) => {
    expect(operationList.find(({ group }) => group === name)?.summary).toBe(first)
  })

  test('have a summary that no other route of their group has', () => {
    const names = operationList.flatMap(routesOf).map(({ group, summary }) => `${group}: ${summary}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('have a unique method and path', () => {
    const routes = operationList.map(({ method, path }) => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`)
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([])
  })

  test('have a path under /api and a known group', () => {
    expectEach(operationList, ({ path }) => /^\/api(\/([a-z0-9-]+|\{[a-z_]+\}))+$/.test(path))
    expectEach(operationList, ({ group }) => GROUPS.includes(group))
  })

  test('have an object as input', () => {
    expectEach(operationList, ({ input }) => input instanceof z.ZodObject)
  })

  test('reject unknown fields, except where others define the format', () => {
    const ours = operationList.filter(({ isBare, payment }) => isBare !== true && payment?.when !== 'always')
    expectEach(ours, ({ input }) => {
      const issues = input.safeParse({ nobody_asked: 1 }).error?.issues ?? []
      return issues.some(({ code }) => code === 'unrecognized_keys')
    })
  })

  test('have every parameter of their path in the input', () => {
    const withKeys = operationList.filter(({ path }) => keysOf(path).length > 0)
    expectEach(withKeys, ({ path, input }) => keysOf(path).every((key) => shapeOf(input).includes(key)))
  })

  test('have every parameter of their purpose in the input, or {me}', () => {
    const withKeys = operationList.filter(({ purpose }) => keysOf(purpose ?? '').length > 0)
    expectEach(withKeys, ({ purpose, input }) =>
      keysOf(purpose ?? '').every((key) => key === 'me' || shapeOf(input).includes(key)),
    )
  })

  test('need a recent login when operators write', () => {
    const writes = operationList.filter(
      (operation) => isWrite(operation) && operation.callers.includes('admin'),
    )
    expectEach(writes, ({ recentLogin }) => recentLogin === true)
  })

  test('count writes under another limit than `read`, and reads under another than `write`', () => {
    expectEach(operationList, ({ limit }) => Object.hasOwn(LIMITS, limit))
    expectEach(operationList.filter(isWrite), ({ limit }) => limit !== 'read')
    expectEach(
      operationList.filter((operation) => !isWrite(operation)),
      ({ limit }) => limit !== 'write',
    )
  })

  test('are marked as a read only when they are a POST', () => {
    const marked = operationList.filter(({ readsOnly }) => readsOnly === true)
    expectEach(marked, ({ method, worksReadOnly }) => method === 'POST' && worksReadOnly === undefined)
  })

  test('have a purpose only when they write or start a session, and switches only when they write', () => {
    const reads = operationList.filter((operation) => !isWrite(operation))
    expectEach(reads, ({ stoppedBy }) => stoppedBy === undefined)
    expect(reads.flatMap(({ purpose = [] }) => purpose)).toEqual(['sessions.start'])
  })

  test('have a purpose only where wallets may call', () => {
    const signed = operationList.filter(({ purpose }) => purpose !== undefined)
    expectEach(signed, ({ callers, cosigned }) => callers.includes('wallet') || cosigned === true)
  })

  test('with cacheSeconds are reads without a secret, which need no credential', () => {
    const shared = operationList.filter(({ cacheSeconds }) => cacheSeconds !== undefined)
    expectEach(shared, (operation) => operation.method === 'GET' && !isWrite(operation))
    expectEach(shared, ({ callers, setsCookie }) => callers.includes('anonymous') && setsCookie !== true)
    // The access token of a purchase.
    expectEach(shared, ({ input }) => !shapeOf(input).includes('t'))
    expectEach(shared, ({ cacheSeconds }) => Number.isInteger(cacheSeconds) && Number(cacheSeconds) >= 1)
  })

  test('that everybody may read have cacheSeconds, except what depends on the time, the caller or a secret', () => {
    const others = operationList.filter(
      (operation) =>
        operation.method === 'GET' &&
        !isWrite(operation) &&
        operation.callers.includes('anonymous') &&
        operation.cacheSeconds === undefined,
    )
    expect(others.map(({ id }) => id).toSorted()).toEqual([
      'getAuthMessage',
      'getMe',
      'getPurchasedOrder',
      'getPurchasedReceipt',
      'listPurchasedGenerations',
    ])
  })
})

/** The contract's table, one row for each counter. */
const PROMISED = {
  'agents.register': { max: 5, windowSeconds: HOUR },
  'services.create': { max: 20, windowSeconds: HOUR },
  'orders.of-agent': { max: 30, windowSeconds: HOUR },
  'orders.deliver': { max: 30, windowSeconds: HOUR },
  upload: { max: 30, windowSeconds: HOUR },
  'tokens.write': { max: 10, windowSeconds: HOUR },
  said: { max: 10, windowSeconds: HOUR },
  'orders.create': { max: 30, windowSeconds: HOUR },
  'orders.message': { max: 60, windowSeconds: HOUR },
  'bounties.create': { max: 30, windowSeconds: HOUR },
  'bounties.claim': { max: 30, windowSeconds: HOUR },
  'bounties.accept': { max: 30, windowSeconds: HOUR },
  'x402.discover': { max: 600, windowSeconds: HOUR },
  'x402.pay': { max: 30, windowSeconds: HOUR },
  market: { max: 30, windowSeconds: 60 },
  'profile.update': { max: 60, windowSeconds: 600 },
  'earn.markets': { max: 120, windowSeconds: 60 },
  'earn.pools': { max: 60, windowSeconds: 60 },
}

/** Our limits for routes that the table does not list, and for MCP. */
const OURS = {
  mcp: { max: 600, windowSeconds: 60 },
  'agents.recover': { max: 10, windowSeconds: HOUR },
  'deliveries.test': { max: 30, windowSeconds: HOUR },
  'x402.hire': { max: 600, windowSeconds: HOUR },
  'x402.pay-v1': { max: 30, windowSeconds: HOUR },
  'wallets.read': { max: 600, windowSeconds: 60 },
  'wallets.write': { max: 120, windowSeconds: 60 },
  'swaps.order': { max: 60, windowSeconds: 600 },
  'swaps.execute': { max: 30, windowSeconds: 60 },
  'chain.lookups': { max: 300, windowSeconds: 600 },
  'oauth.register': { max: 60, windowSeconds: 3_600 },
  'oauth.authorize': { max: 300, windowSeconds: 600 },
  sessions: { max: 60, windowSeconds: 600 },
  'chain.signatures': { max: 60, windowSeconds: 60 },
  write: { max: 120, windowSeconds: 60 },
  read: { max: 600, windowSeconds: 60 },
}

test('LIMITS equals the table of the specification, plus our own', () => {
  expect(LIMITS).toEqual({ ...PROMISED, ...OURS })
})

test.each([
  ['registerAgent', 'agents.register'],
  ['recoverAgents', 'agents.recover'],
  ['updateProfile', 'profile.update'],
  ['getMarketData', 'market'],
] as const)('%s counts under its own row', (id, limit) => {
  expect(operations[id].limit).toBe(limit)
})
