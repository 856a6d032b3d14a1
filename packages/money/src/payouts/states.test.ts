import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { describeHold, HOLD_CODES, retryAfterMs } from './hold.ts'
import { nextState, type PayoutAction, type PayoutState, TRANSITIONS } from './states.ts'

const STATES = Object.keys(TRANSITIONS) as PayoutState[]
const rowOf = (state: PayoutState): Readonly<Record<string, PayoutState>> => TRANSITIONS[state]

const statesWith = (action: PayoutAction) =>
  STATES.filter((state) => Object.hasOwn(TRANSITIONS[state], action))

describe('TRANSITIONS', () => {
  test('a final payout stays final', () => {
    expect(TRANSITIONS.final).toEqual({})
  })

  test('a payout is withdrawn only before it is authorized or after it failed', () => {
    expect(statesWith('withdraw')).toEqual(['queued', 'held', 'failed'])
  })

  test('a payout with an unused nonce does not fail: later payouts wait for its nonce', () => {
    expect(statesWith('fail')).not.toContain('nonce_assigned')
  })

  test('only a failed payout is retried', () => {
    expect(statesWith('retry')).toEqual(['failed'])
  })
})

describe('nextState', () => {
  test('returns the state of the table', () => {
    expect(nextState({ id: 'pay_1', state: 'nonce_assigned' }, 'sign')).toBe('signed')
  })

  test('throws for an action that the state does not have', () => {
    expect(() => nextState({ id: 'pay_1', state: 'final' }, 'fail')).toThrow('pay_1 is final: cannot fail')
  })

  test('throws for a name that every object has', () => {
    expect(() => nextState({ id: 'pay_1', state: 'final' }, 'toString' as PayoutAction)).toThrow('toString')
  })
})

test('database: payout_transition_allowed lists the same changes of state as the table (asvs V2.3)', async () => {
  const database = await testDatabase()
  try {
    const { rows } = await sql<{ from_state: PayoutState; to_state: PayoutState; allowed: boolean }>`
      select from_state, to_state, payout_transition_allowed(from_state, to_state) as allowed
      from unnest(${STATES}::text[]) as from_state, unnest(${STATES}::text[]) as to_state
      where from_state <> to_state`.execute(database.db)
    expect(rows).toHaveLength(STATES.length * (STATES.length - 1))
    for (const { from_state, to_state, allowed } of rows)
      expect([from_state, to_state, allowed]).toEqual([
        from_state,
        to_state,
        Object.values(rowOf(from_state)).includes(to_state),
      ])
  } finally {
    await database.stop()
  }
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
