import { describe, expect, test } from 'vitest'
import {
  ACTORS,
  type Action,
  assertStep,
  BY_CLOCK,
  type OrderRole,
  requireRole,
  requireTransition,
  type Status,
  TRANSITIONS,
} from './states.ts'

const STATUSES = Object.keys(TRANSITIONS) as Status[]
const ACTIONS = Object.keys(ACTORS) as Action[]
const targetOf = (status: Status, action: Action): Status | undefined =>
  (TRANSITIONS[status] as Partial<Record<Action, Status>>)[action]

describe('TRANSITIONS', () => {
  test('every status can be reached from a new order', () => {
    const reached = new Set<Status>(['pending_quote', 'quoted'])
    for (const status of reached) for (const target of Object.values(TRANSITIONS[status])) reached.add(target)
    expect([...reached].sort()).toEqual([...STATUSES].sort())
  })

  test.each([
    ['pending_quote', 'quote', 'provider', 'quoted'],
    ['quoted', 'pay', 'buyer', 'paid'],
    ['paid', 'deliver', 'provider', 'delivered'],
    ['in_progress', 'deliver', 'provider', 'delivered'],
    ['delivered', 'approve', 'buyer', 'completed'],
    ['delivered', 'release', 'clock', 'completed'],
    ['delivered', 'revision', 'buyer', 'revision_requested'],
    ['delivered', 'dispute', 'buyer', 'disputed'],
    ['pending_quote', 'cancel', 'buyer', 'cancelled'],
    ['quoted', 'cancel', 'buyer', 'cancelled'],
    ['accepted', 'cancel', 'buyer', 'cancelled'],
    ['paid', 'cancel', 'buyer', 'cancelled'],
  ] as const)('specification: %s, %s by the %s leads to %s', (from, action, role, to) => {
    expect(targetOf(from, action)).toBe(to)
    expect(ACTORS[action]).toContain(role)
  })

  test('a cancelled order stays cancelled', () => {
    expect(TRANSITIONS.cancelled).toEqual({})
  })

  test('every status that holds money can lose it when the chain undoes the payment', () => {
    const holding = STATUSES.filter((status) => targetOf(status, 'undo') !== undefined)
    expect(holding).toEqual([
      'paid',
      'in_progress',
      'delivered',
      'revision_requested',
      'disputed',
      'completed',
    ])
    for (const status of holding) expect(targetOf(status, 'undo')).toBe('accepted')
  })

  test('an arbiter ends a dispute, or a delivered order whose payment is contested', () => {
    const judged = STATUSES.filter((status) => targetOf(status, 'award') ?? targetOf(status, 'reverse'))
    expect(judged).toEqual(['delivered', 'revision_requested', 'disputed', 'completed'])
  })
})

describe('requireTransition', () => {
  test('allows an action of the table', () => {
    expect(() => requireTransition({ status: 'delivered' }, 'approve')).not.toThrow()
  })

  test.each([
    [
      'delivered',
      'pay',
      'Cannot pay an order with status `delivered`. Allowed now: deliver, approve, revision, dispute.',
    ],
    ['quoted', 'approve', 'Cannot approve an order with status `quoted`. Allowed now: accept, pay, cancel.'],
    ['cancelled', 'pay', 'Cannot pay an order with status `cancelled`. Nothing is allowed now.'],
  ] as const)('rejects in status %s the action %s, and says what is allowed', (status, action, message) => {
    const check = () => requireTransition({ status }, action)
    expect(check).toThrow(expect.objectContaining({ kind: 'invalid', extra: { code: 'illegal_transition' } }))
    expect(check).toThrow(message)
  })
})

test.each([
  ['buyer', 'deliver'],
  ['provider', 'approve'],
  ['owner', 'award'],
  ['buyer', 'release'],
] as const)('requireRole: the %s cannot %s', (role, action) => {
  const check = () => requireRole(role, action)
  expect(check).toThrow(expect.objectContaining({ kind: 'forbidden', extra: { code: 'not_your_act' } }))
})

test.each([
  ['provider', 'deliver'],
  ['buyer', 'approve'],
  ['arbiter', 'award'],
] as const)('requireRole: the %s can %s', (role, action) => {
  expect(() => requireRole(role, action)).not.toThrow()
})

test('requireRole: the message names those who can call', () => {
  expect(() => requireRole('buyer', 'start')).toThrow('Only the provider or owner can start this order.')
})

test('requireRole: the owner may do exactly what the agent may do', () => {
  for (const action of ACTIONS) {
    const actors: readonly OrderRole[] = ACTORS[action]
    expect([action, actors.includes('owner')]).toEqual([action, actors.includes('provider')])
  }
})

describe('assertStep', () => {
  const at = (status: Status) => ({ id: 'ord_1', status })
  const step = { action: 'deliver', role: 'provider', actor: 'agent:agt_1' } as const

  test('allows a step of the tables', () => {
    expect(() => assertStep(at('paid'), 'delivered', step)).not.toThrow()
  })

  test.each([
    ['a transition that the table does not have', () => assertStep(at('quoted'), 'delivered', step)],
    ['another target than the one of the table', () => assertStep(at('paid'), 'completed', step)],
    [
      'a role that may not take the action',
      () => assertStep(at('paid'), 'delivered', { ...step, role: 'buyer' }),
    ],
    ['the clock in place of the agent', () => assertStep(at('paid'), 'delivered', { ...step, ...BY_CLOCK })],
    [
      'an actor of another kind than its role',
      () => assertStep(at('paid'), 'delivered', { ...step, actor: 'clock' }),
    ],
  ])('rejects %s', (_case, check) => {
    expect(check).toThrow()
  })
})
