import { SECOND } from '@market/kernel/clock'
import { expect, test } from 'vitest'
import { wasAnsweredLater } from './operation.ts'

const at = (seconds: number): Date => new Date(seconds * SECOND)
const requested = { status: 'requested', createdAt: at(0), updatedAt: at(0) } as const

test('wasAnsweredLater: an operation that ended within the wait was answered with its result, whenever that is asked', () => {
  const done = { ...requested, status: 'done', updatedAt: at(12) } as const
  expect(wasAnsweredLater(done, at(100), 12 * SECOND)).toBe(false)
  expect(wasAnsweredLater({ ...done, updatedAt: at(13) }, at(100), 12 * SECOND)).toBe(true)
  expect(wasAnsweredLater(done, at(100), 2 * SECOND)).toBe(true)
})

test('wasAnsweredLater: an operation that has not ended was answered with 202 once the wait is over', () => {
  expect(wasAnsweredLater(requested, at(12), 12 * SECOND)).toBe(false)
  expect(wasAnsweredLater(requested, at(13), 12 * SECOND)).toBe(true)
  expect(wasAnsweredLater(requested, at(3), 2 * SECOND)).toBe(true)
})
