import { expect, test } from 'vitest'
import { errorsOf, isListed } from './operation-errors.ts'
import { operationList, operations } from './operations.ts'

const codesOf = (id: keyof typeof operations, status: 400 | 401 | 402 | 403 | 404 | 409 | 503) =>
  errorsOf(operations[id]).get(status) ?? []

test('own codes come first, then those that follow from the other fields', () => {
  expect(codesOf('getOrder', 404)).toEqual(['order_not_found'])
  expect(codesOf('createOrder', 400).slice(0, 2)).toEqual(['own_service', 'wallet_not_proven'])
  expect(codesOf('createOrder', 400)).toContain('bad_idempotency_key')
  expect(codesOf('getOrder', 400)).not.toContain('bad_idempotency_key')
})

test('a switch, a recent login and a payment add their codes', () => {
  expect(codesOf('createOrder', 503)).toEqual(expect.arrayContaining(['freeze_intake', 'read_only']))
  expect(codesOf('turnSwitch', 503)).not.toContain('read_only')
  expect(codesOf('rotateKey', 401)).toContain('login_too_old')
  expect(codesOf('payService', 402)).toEqual(expect.arrayContaining(['underpaid', 'insufficient_funds']))
  expect(codesOf('getOrder', 402)).toEqual([])
})

test('a code is listed for its status only', () => {
  expect(isListed(operations.getOrder, 404, 'order_not_found')).toBe(true)
  expect(isListed(operations.getOrder, 404, 'service_not_found')).toBe(false)
  expect(isListed(operations.getOrder, 409, 'order_not_found')).toBe(false)
  expect(isListed(operations.getOrder, 400, undefined)).toBe(false)
  expect(isListed(operations.payService, 402, 'invalid_exact_evm_signature')).toBe(true)
  expect(isListed(operations.getOrder, 402, 'invalid_exact_evm_signature')).toBe(false)
})

test('no entry lists a code that follows from its other fields', () => {
  const repeated = operationList.flatMap(({ errors = {}, ...rest }) => {
    const derived = errorsOf({ ...rest, errors: {} })
    return Object.entries(errors).flatMap(([status, codes]) =>
      codes
        .filter((code) => derived.get(Number(status) as never)?.includes(code))
        .map((code) => `${rest.id}: ${code}`),
    )
  })
  expect(repeated).toEqual([])
})
