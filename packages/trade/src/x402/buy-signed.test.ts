import { expect, test } from 'vitest'
import { problemOf } from './buy-signed.ts'

test('a payment that the chain ended: payment_void with the reason, or the code that the facilitator names', () => {
  expect(problemOf('the authorization expired')).toEqual({
    code: 'payment_void',
    message: 'The payment did not take effect: the authorization expired. Pay again.',
  })
  expect(problemOf('insufficient_funds')).toEqual({ code: 'insufficient_funds' })
  expect(problemOf(null)).toEqual({ code: 'no_matching_requirements' })
})
