import { TooFewProviders } from '@market/core/ports/chain'
import { expect, test } from 'vitest'
import { failureOf } from './failure.ts'

test('failureOf: too few providers of a network are an outage, which a client may try again', () => {
  const error = new TooFewProviders(
    '1 of 2 required providers of alt-mainnet show the balance: 127.0.0.1: timeout',
  )
  expect(failureOf(error, 'request-1')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(JSON.stringify(failureOf(error, 'request-1').body)).not.toContain('127.0.0.1')
})

test('failureOf: an unknown error is internal, and its message is not sent (asvs V16.3)', () => {
  const { status, body } = failureOf(new Error('a secret'), 'request-1')
  expect([status, body['code'], JSON.stringify(body).includes('secret')]).toEqual([500, 'internal', false])
})
