import { ApiError } from '@market/kernel/api-error'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseAs } from './parse.ts'

const Schema = z.strictObject({
  title: z.string().min(5),
  questions: z.array(z.strictObject({ label: z.string() })).optional(),
})

function errorOf(input: unknown, schema: z.ZodType = Schema): ApiError {
  try {
    parseAs(schema, input)
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('the input was accepted')
}

test('parse: suggests a similar field for an unknown one', () => {
  const error = errorOf({ title: 'A title', question: [] })
  expect(error.message).toBe('Unknown field: question. Did you mean questions?')
  expect(error.extra.details).toEqual([{ path: '', message: error.message }])
})

test('parse: names unknown fields without a suggestion when none is similar', () => {
  expect(errorOf({ title: 'A title', surplus: 1 }).message).toBe('Unknown field: surplus')
  expect(errorOf({ title: 'A title', surplus: 1, 'a b': 2 }).message).toBe('Unknown fields: surplus, "a b"')
  expect(errorOf({ title: 'A title', '\ud800': 1 }).message).toBe('Unknown field: malformed')
})

test('parse: names at most five unknown fields, each cut to 40 characters', () => {
  const fields = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}${'x'.repeat(99)}`, 1]))
  const { message } = errorOf({ title: 'A title', ...fields })
  expect(message.match(/\dx{39}(?!x)/g)).toHaveLength(5)
})

test('parse: names the path of an unknown field inside an array', () => {
  const error = errorOf({ title: 'A title', questions: [{ label: 'Size', labl: 1 }] })
  expect(error.message).toBe('questions.0: Unknown field: labl. Did you mean label?')
})

test('parse: suggests fields of the options of a union', () => {
  const schema = z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('pay'), escrow_tx_hash: z.string().optional() }),
    z.strictObject({ action: z.literal('cancel') }),
  ])
  const error = errorOf({ action: 'pay', escrow_hash: '0x1' }, schema)
  expect(error.message).toBe('Unknown field: escrow_hash. Did you mean escrow_tx_hash?')
})

test('parse: reports a missing field as required and a wrong type by the expected type', () => {
  expect(errorOf({}).message).toBe('title is required and must be at least 5 characters')
  expect(errorOf({ title: 123 }).message).toBe('title must be a string')
  expect(errorOf({ title: null }).message).toBe('title must be a string')
  expect(errorOf({ title: 'A title', questions: {} }).message).toBe('questions must be an array')
})

test('parse: a missing or wrong value gets the limits of its field', () => {
  const schema = z.strictObject({
    description: z.string().max(500).meta({ minLength: 10, maxLength: 500 }),
    rating: z.int().min(1).max(5),
    tags: z.array(z.string()).min(1).max(3),
    sort: z.enum(['newest', 'rating']).optional(),
    hours: z.int().min(1).default(2),
  })
  const good = { description: 'Long enough to pass.', rating: 5, tags: ['a'] }
  const messageOf = (change: Record<string, unknown>) => errorOf({ ...good, ...change }, schema).message
  expect(messageOf({ description: undefined })).toBe('description is required and must be 10-500 characters')
  expect(messageOf({ rating: undefined })).toBe('rating is required and must be 1-5')
  for (const rating of [0, 6]) expect(messageOf({ rating })).toBe('rating must be 1-5')
  expect(messageOf({ rating: '5' })).toBe('rating must be a number')
  for (const tags of [[], ['a', 'b', 'c', 'd']]) expect(messageOf({ tags })).toBe('tags must have 1-3 items')
  expect(messageOf({ sort: 'oldest' })).toBe('sort must be one of newest, rating')
  expect(messageOf({ hours: 0 })).toBe('hours must be at least 1')
})

test('parse: the field of a union’s option gets the limits of that option', () => {
  const schema = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('split'), share: z.int().min(1).max(9) }),
    z.strictObject({ kind: z.literal('release') }),
  ])
  expect(errorOf({ kind: 'split', share: 10 }, schema).message).toBe('share must be 1-9')
})
