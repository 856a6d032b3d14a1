import { ApiError } from '@market/kernel/api-error'
import { expect, test } from 'vitest'
import { checkAnswers } from './requirement-answers.ts'

const FIELDS = [
  { label: 'Colour', type: 'select', required: true, options: ['red', 'blue'] },
  { label: 'Size', type: 'number', required: false },
] as const

/** The paths of the answers that are rejected. */
function rejectedPaths(answers: Readonly<Record<string, unknown>>, requiresAll: boolean): string[] {
  try {
    checkAnswers(FIELDS, answers, { requiresAll })
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return (error.extra.details ?? []).map(({ path }) => path)
  }
}

test('checkAnswers with requiresAll: a required answer must not be missing or empty', () => {
  for (const answers of [{}, { Colour: '' }, { Colour: null }])
    expect(rejectedPaths(answers, true)).toEqual(['requirement_answers.Colour'])
  expect(rejectedPaths({ Colour: 'red' }, true)).toEqual([])
})

test('checkAnswers without requiresAll: a required answer may be missing, and a given one must be valid', () => {
  expect(rejectedPaths({}, false)).toEqual([])
  expect(rejectedPaths({ Colour: 'green', Size: 'large' }, false)).toEqual([
    'requirement_answers.Colour',
    'requirement_answers.Size',
  ])
})
