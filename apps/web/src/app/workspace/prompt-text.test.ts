import { expect, test } from 'vitest'
import { promptOf } from './prompt-text.ts'

const QUESTIONS = [
  { label: 'Size', type: 'text', required: true },
  { label: 'Style', type: 'text', required: false },
] as const

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, text] of Object.entries(fields)) form.set(name, text)
  return form
}

test('promptOf: the text alone when no question was answered for it', () => {
  expect(promptOf(QUESTIONS, formOf({ 'answer-0': ' ', prompt: ' A blue square ' }))).toBe('A blue square')
})

test('promptOf: the answers by their questions, then the text', () => {
  const form = formOf({ 'answer-0': '64 px', 'answer-1': 'Flat', prompt: 'A blue square' })
  expect(promptOf(QUESTIONS, form)).toBe('Size: 64 px\nStyle: Flat\n\nA blue square')
})

test('promptOf: answers without a text', () => {
  expect(promptOf(QUESTIONS, formOf({ 'answer-1': 'Flat', prompt: '' }))).toBe('Style: Flat')
})
