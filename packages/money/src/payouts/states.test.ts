import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { describeHold, HOLD_CODES, retryAfterMs } from './hold.ts'
import { type PayoutAction, type PayoutState, TRANSITIONS } from './states.ts'

const STATES = Object.keys(TRANSITIONS) as PayoutState[]

const statesWith = (action: PayoutAction) =>
  STATES.filter((state) => Object.hasOwn(TRANSITIONS[state], action))

describe('TRANSITIONS', () => {
  test('a final payout stays final', () => {
    expect(TRANSITIONS.final).toEqual({})
  })

  test('a payout is withdrawn only before it is signed or after it failed', () => {
    expect(statesWith('withdraw')).toEqual(['queued', 'held', 'failed'])
  })

  test('only a failed payout is retried', () => {
    expect(statesWith('retry')).toEqual(['failed'])
  })
})

test('database: the CHECK of hold_code lists the same codes as HoldCode', async () => {
  const database = await testDatabase()
  try {
    const { rows } = await sql<{ definition: string }>`
      select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'payouts_hold_code'
    `.execute(database.db)
    const codes = [...(rows[0]?.definition ?? '').matchAll(/'(\w+)'/g)].map(([, code]) => code)
    expect(codes.sort()).toEqual([...HOLD_CODES].sort())
  } finally {
    await database.stop()
  }
})

test('describeHold: appends the detail to the sentence of the code', () => {
  expect(describeHold({ code: 'payout_cap', detail: '50.00 USDC' })).toBe(
    'It is above the cap for one payout: 50.00 USDC',
  )
  for (const code of HOLD_CODES) {
    expect(describeHold({ code })).not.toBe('')
    expect(retryAfterMs(code, 0)).toBeGreaterThan(0)
  }
})
