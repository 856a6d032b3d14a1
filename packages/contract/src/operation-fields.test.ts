import { describe, expect, test } from 'vitest'
import { describeOperation, findOperation, inputOf, splitField, usageOf } from './operation-fields.ts'
import { operations } from './operations.ts'

describe('inputOf', () => {
  test('reads JSON where the field takes no text, and keeps text that looks like JSON', () => {
    const fields = [
      ['name', 'read_only'],
      ['on', 'true'],
      ['reason', '12345'],
    ] as const
    expect(inputOf(operations.turnSwitch, fields)).toEqual({ name: 'read_only', on: true, reason: '12345' })
  })

  test('leaves a wrong value and an unknown field as they are, so that the check names them', () => {
    const fields = [
      ['on', 'yes'],
      ['off', 'true'],
    ] as const
    expect(inputOf(operations.turnSwitch, fields)).toEqual({ on: 'yes', off: 'true' })
  })

  test('reads an object', () => {
    const fields = [['payload', '{"payout_id":"pay_1"}']] as const
    expect(inputOf(operations.createApproval, fields)).toEqual({ payload: { payout_id: 'pay_1' } })
  })
})

test('usageOf: marks optional fields', () => {
  expect(usageOf(operations.listPayouts)).toBe('call listPayouts [state=…] [network=…] [limit=…] [cursor=…]')
  expect(usageOf(operations.turnSwitch)).toBe('call turnSwitch name=… on=… reason=…')
})

test('splitField: the value may contain =', () => {
  expect(splitField('reason=a=b')).toEqual(['reason', 'a=b'])
  expect(splitField('text=')).toEqual(['text', ''])
  expect(splitField('on')).toBeUndefined()
  expect(splitField('=on')).toBeUndefined()
})

test('findOperation: a misspelled id gets a hint', () => {
  const all = Object.values(operations)
  expect(findOperation('getOrder', all)).toEqual({ found: operations.getOrder })
  expect(findOperation('getOder', all)).toEqual({ hint: ' Did you mean getOrder?' })
  expect(findOperation('x', all)).toEqual({ hint: '' })
})

test('describeOperation: the usage, then what it does', () => {
  expect(describeOperation(operations.getService, 'market')).toMatch(
    /^market call getService service_id=…\n\nGet a service\. /,
  )
})
