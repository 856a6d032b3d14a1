import { expect, test } from 'vitest'
import { nextState } from './states.ts'

test('nextState: money that is held returns when an operator retries', () => {
  expect(nextState({ id: 'emv_1', state: 'held' }, 'retry')).toBe('returning')
})

test('nextState: throws when a venue transfer that is done should fail', () => {
  expect(() => nextState({ id: 'emv_1', state: 'done' }, 'fail')).toThrow('emv_1 is done: cannot fail')
})
