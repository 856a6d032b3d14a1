import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { GROUPS, isWrite } from './define.ts'
import { LIMITS } from './limits.ts'
import { operationList, operations } from './operations.ts'

const HOUR = 3_600

const shapeOf = (input: unknown): readonly string[] =>
  input instanceof z.ZodObject ? Object.keys(input.shape) : []

const keysOf = (template: string): string[] =>
  [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] ?? '')

describe('operations', () => {
  test.each(Object.entries(operations))('%s has its key as id', (key, operation) => {
    expect(operation.id).toBe(key)
  })

  test('have a unique method and path', () => {
    const routes = operationList.map(({ method, path }) => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`)
    expect(new Set(routes).size).toBe(routes.length)
  })
})

describe.each(operationList)('$id', (operation) => {
  test('have a strict object as input, except where others define the format', () => {
    expect(operation.input).toBeInstanceOf(z.ZodObject)
    if (operation.isBare === true || operation.payment?.when === 'always') return
    const answer = operation.input.safeParse({ nobody_asked: 1 })
    expect(answer.error?.issues.some((issue) => issue.code === 'unrecognized_keys')).toBe(true)
  })

  test('have every path and purpose parameter in the input', () => {
    const keys = shapeOf(operation.input)
    for (const key of keysOf(operation.path)) expect(keys).toContain(key)
    for (const key of keysOf(operation.purpose ?? '')) if (key !== 'me') expect(keys).toContain(key)
  })

  test('need a recent login when operators write', () => {
    if (isWrite(operation) && operation.callers.includes('admin')) expect(operation.recentLogin).toBe(true)
  })

  test('have a path under /api and a known group', () => {
    expect(operation.path).toMatch(/^\/api(\/([a-z0-9-]+|\{[a-z_]+\}))+$/)
    expect(GROUPS).toContain(operation.group)
  })

  test('have an existing limit', () => {
    expect(Object.keys(LIMITS)).toContain(operation.limit)
    if (operation.limit === 'read') expect(isWrite(operation)).toBe(false)
    if (operation.limit === 'write') expect(isWrite(operation)).toBe(true)
  })

  test('only a POST can be marked as a read', () => {
    if (operation.readsOnly !== true) return
    expect([operation.method, operation.worksReadOnly]).toEqual(['POST', undefined])
  })

  test('only writes have a purpose or switches', () => {
    if (isWrite(operation)) return
    expect(operation.purpose).toBeUndefined()
    expect(operation.stoppedBy).toBeUndefined()
  })

  test('have a purpose only where wallets may call', () => {
    if (operation.purpose === undefined) return
    expect(operation.callers.includes('wallet') || operation.cosigned === true).toBe(true)
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
  'swaps.order': { max: 60, windowSeconds: 600 },
  'swaps.execute': { max: 30, windowSeconds: 60 },
  'chain.lookups': { max: 300, windowSeconds: 600 },
  'oauth.register': { max: 60, windowSeconds: 3_600 },
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
