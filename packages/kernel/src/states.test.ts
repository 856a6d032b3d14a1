import { expect, expectTypeOf, test } from 'vitest'
import { type ActionOf, nextState, type StateOf, transitions } from './states.ts'

const TABLE = transitions({
  queued: { sign: 'signed', hold: 'queued' },
  signed: { finalize: 'final' },
  final: {},
})
const at = (state: StateOf<typeof TABLE>) => ({ id: 'pay_1', state })

test('nextState: returns the state of the table', () => {
  expect(nextState(TABLE, at('queued'), 'sign')).toBe('signed')
  expect(nextState(TABLE, at('queued'), 'hold')).toBe('queued')
})

test('nextState: throws for an action that the state does not have', () => {
  expect(() => nextState(TABLE, at('final'), 'sign')).toThrow('pay_1 is final: cannot sign')
})

test('nextState: throws for a name that every object has', () => {
  const action = 'toString' as ActionOf<typeof TABLE>
  expect(() => nextState(TABLE, at('final'), action)).toThrow('pay_1 is final: cannot toString')
})

test('transitions: states and actions are types, and a table that leads to an unknown state does not compile', () => {
  expectTypeOf<StateOf<typeof TABLE>>().toEqualTypeOf<'queued' | 'signed' | 'final'>()
  expectTypeOf<ActionOf<typeof TABLE>>().toEqualTypeOf<'sign' | 'hold' | 'finalize'>()
  // @ts-expect-error
  expect(transitions({ queued: { sign: 'signd' }, signed: {} })).toBeDefined()
})
