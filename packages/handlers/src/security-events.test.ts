import { isWrite } from '@market/contract/define'
import { type OperationId, operationList, operations } from '@market/contract/operations'
import type { Actor } from '@market/core/context'
import { ApiError, type ErrorCode } from '@market/kernel/api-error'
import { expect, test } from 'vitest'
import type { Call } from './call.ts'
import { doneEvents, rejectedEvent, SECURITY_EVENTS } from './security-events.ts'

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

test('security events: every write of operators has one (asvs V16.1)', () => {
  const written = operationList.filter((one) => isWrite(one) && one.callers.includes('admin'))
  expect(written.length).toBeGreaterThan(5)
  for (const { id } of written)
    expect([SECURITY_EVENTS[id as OperationId]].flat()[0]?.event, id).toMatch(/^[a-z]+\.[a-z_]+$/)
})

test('security events: a done one names caller, credential, address and subject, and no secret', () => {
  const input = { name: 'read_only', on: true, reason: 'An incident' }
  const [event] = doneEvents(callOf('turnSwitch', { bearer: KEY }), OPERATOR, input)
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
  expect(doneEvents(call, AGENT, { name: 'New' })).toEqual([])
  const payout = {
    event: 'agent.payout_address_changed',
    subject: 'agent:agt_1',
    details: { payout_address_base: '0x1' },
  }
  expect(doneEvents(call, AGENT, { payout_address_base: '0x1', name: 'New' })).toMatchObject([payout])
  expect(doneEvents(callOf('getMyAgent'), AGENT, {})).toEqual([])
})

test('security events: an update of an agent has one for its endpoint, without the query of the URL', () => {
  const input = { endpoint_url: 'https://hooks.example/in?key=hidden', payout_chain: 'base' }
  expect(doneEvents(callOf('updateMyAgent'), AGENT, input)).toMatchObject([
    { event: 'agent.payout_address_changed', details: { payout_chain: 'base' } },
    { event: 'agent.endpoint_changed', details: { endpoint_url: 'https://hooks.example/in' } },
  ])
  expect(doneEvents(callOf('updateMyAgent'), AGENT, { endpoint_url: null })).toMatchObject([
    { event: 'agent.endpoint_changed', details: { endpoint_url: null } },
  ])
})

test.each([
  ['sendFromWallet', 'wallet.send_requested', { asset: 'USDC', to: 'So1', amount: 5 }],
  ['exportKey', 'wallet.key_exported', undefined],
  ['setWithdrawAddress', 'wallet.withdraw_address_set', { address: 'So1' }],
  ['cancelWithdrawAddress', 'wallet.withdraw_address_cancelled', undefined],
  ['withdraw', 'wallet.withdraw_requested', { asset: 'SOL' }],
] as const)('security events: %s is %s', (id, name, details) => {
  const [event] = doneEvents(callOf(id), AGENT, { agent_id: 'agt_2', public_key: 'pk', ...details })
  expect(event).toMatchObject({ event: name, outcome: 'done', subject: 'agt_2' })
  expect(event?.details).toEqual(details)
})

test('security events: the credential is that of the caller, also where the transport verified it', () => {
  const credential = { kind: 'oauth_token', id: '3f9a01c27be4', grantId: 'g1', program: 'c1' } as const
  const actor = { ...AGENT, credential }
  const logged = { credential: 'oauth_token', credential_id: '3f9a01c27be4', grant_id: 'g1', program: 'c1' }
  expect(doneEvents(callOf('rotateKey'), actor, {})).toMatchObject([logged])
  const call = { ...callOf('getProfile'), caller: { actor } }
  expect(rejectedEvent(call, undefined, error('unauthenticated', 'bad_token'))).toMatchObject({
    caller: 'agent:agt_1',
    ...logged,
  })
})

const error = (kind: 'unauthenticated' | 'forbidden' | 'invalid', code: ErrorCode) =>
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
  expect(rejectedEvent(call, AGENT, error('invalid', 'invalid_input'))).toBeUndefined()
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
