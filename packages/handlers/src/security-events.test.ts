import { isWrite } from '@market/contract/define'
import { type OperationId, operationList, operations } from '@market/contract/operations'
import type { Actor } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { expect, test } from 'vitest'
import type { Call } from './call.ts'
import { doneEvent, rejectedEvent, SECURITY_EVENTS } from './security-events.ts'

const KEY = 'market_secretsecretsecret'
const OPERATOR: Actor = { kind: 'user', userId: 'op', token: 't', admin: true }
const AGENT: Actor = { kind: 'agent', agentId: 'agt_1' }

const callOf = (id: keyof typeof operations, credentials: Call['credentials'] = {}): Call => ({
  operation: operations[id],
  input: {},
  credentials,
  address: '192.0.2.7',
  requestId: 'r1',
})

test('security events: every write of operators has one', () => {
  const written = operationList.filter((one) => isWrite(one) && one.callers.includes('admin'))
  expect(written.length).toBeGreaterThan(5)
  for (const { id } of written)
    expect(SECURITY_EVENTS[id as OperationId]?.event, id).toMatch(/^[a-z]+\.[a-z_]+$/)
})

test('security events: a done one names caller, credential, address and subject, and no secret', () => {
  const input = { name: 'read_only', on: true, reason: 'An incident' }
  const event = doneEvent(callOf('turnSwitch', { bearer: KEY }), OPERATOR, input)
  expect(event).toEqual({
    event: 'switch.changed',
    outcome: 'done',
    operation: 'turnSwitch',
    caller: 'user:op',
    credential: 'api_key',
    credential_id: expect.stringMatching(/^[0-9a-f]{12}$/),
    client: '192.0.2.7',
    request_id: 'r1',
    subject: 'read_only',
    details: { on: true, reason: 'An incident' },
  })
  expect(JSON.stringify(event)).not.toContain('secret')
})

test('security events: an update of an agent has one only when it changes where money goes', () => {
  const call = callOf('updateMyAgent')
  expect(doneEvent(call, AGENT, { name: 'New' })).toBeUndefined()
  expect(doneEvent(call, AGENT, { payout_address_base: '0x1', name: 'New' })).toMatchObject({
    event: 'agent.payout_address_changed',
    subject: 'agent:agt_1',
    details: { payout_address_base: '0x1' },
  })
  expect(doneEvent(callOf('getMyAgent'), AGENT, {})).toBeUndefined()
})

const error = (kind: 'unauthenticated' | 'forbidden' | 'invalid', code: string) =>
  new ApiError(kind, 'no', { code })

test('security events: a rejected credential has one, a missing credential and another error have none', () => {
  const call = callOf('getProfile', { bearer: 'a.b.c' })
  expect(rejectedEvent(call, undefined, error('unauthenticated', 'bad_token'))).toMatchObject({
    event: 'credential.rejected',
    outcome: 'rejected',
    caller: 'unidentified',
    credential: 'access_token',
    code: 'bad_token',
  })
  expect(rejectedEvent(call, undefined, error('unauthenticated', 'credentials_missing'))).toBeUndefined()
  expect(rejectedEvent(call, AGENT, error('forbidden', 'wrong_credential'))).toBeUndefined()
  expect(rejectedEvent(call, AGENT, error('invalid', 'bad'))).toBeUndefined()
  expect(rejectedEvent(call, AGENT, new Error('a fault'))).toBeUndefined()
})

test('security events: a caller who is not an operator has one on an operation of operators', () => {
  const wallet = { wallet: '0xabc', signature: 's', signedAtMs: 1, chain: 'base' }
  const rejected = rejectedEvent(
    callOf('turnSwitch', { wallet }),
    AGENT,
    error('forbidden', 'wrong_credential'),
  )
  expect(rejected).toMatchObject({
    event: 'access.rejected',
    caller: 'agent:agt_1',
    credential: 'wallet_signature',
    credential_id: '0xabc',
  })
})
