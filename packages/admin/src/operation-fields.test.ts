import { operations } from '@market/contract/operations'
import { describe, expect, test } from 'vitest'
import { inputOf, operatorOperations, usageOf } from './operation-fields.ts'

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

test('operatorOperations: contains every operation under /api/admin', () => {
  const admin = Object.values(operations).filter(({ path }) => path.startsWith('/api/admin/'))
  expect(admin.length).toBeGreaterThan(15)
  expect(operatorOperations).toEqual(expect.arrayContaining(admin))
})
