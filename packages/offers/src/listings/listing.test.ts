import { usdc } from '@market/kernel/money'
import { offerOf } from '@market/testing/make-listing'
import { describe, expect, test } from 'vitest'
import {
  MAX_ACTIVE,
  offerErrors,
  type RequirementField,
  rejectInvalidOffer,
  rejectTooManyActive,
  slugOf,
} from './listing.ts'

const MIN_PRICE = usdc(100_000n)
const pathsOf = (said: Parameters<typeof offerOf>[0]) =>
  offerErrors(offerOf(said), MIN_PRICE).map(({ path }) => path)

const field = (said: Partial<RequirementField> = {}): RequirementField => ({
  label: 'Size',
  type: 'text',
  required: true,
  ...said,
})

describe('an offer', () => {
  test.each(['fixed', 'weekly', 'monthly'] as const)('%s requires a price', (priceType) => {
    expect(pathsOf({ priceType, price: null, quotaLimit: 1 })).toEqual(['price_usd'])
    expect(pathsOf({ priceType, price: MIN_PRICE, quotaLimit: 1 })).toEqual([])
  })

  test.each(['fixed', 'weekly', 'monthly', 'quote'] as const)(
    '%s: a price below the minimum is invalid',
    (priceType) => {
      expect(pathsOf({ priceType, price: usdc(99_999n), quotaLimit: 1 })).toEqual(['price_usd'])
    },
  )

  test('quote: the price is optional', () => {
    expect(pathsOf({ priceType: 'quote', price: null })).toEqual([])
    expect(pathsOf({ priceType: 'quote', price: MIN_PRICE })).toEqual([])
  })

  test.each(['weekly', 'monthly'] as const)('%s requires a quota', (priceType) => {
    expect(pathsOf({ priceType, quotaLimit: 0 })).toEqual(['quota_limit'])
    expect(pathsOf({ priceType, quotaLimit: 1 })).toEqual([])
  })

  test('one-time prices: the quota is optional', () => {
    expect(pathsOf({ quotaLimit: 0 })).toEqual([])
    expect(pathsOf({ quotaLimit: 5 })).toEqual([])
  })

  test('labels are unique, ignoring case and width', () => {
    const labels = (...all: string[]) => ({ requirementFields: all.map((label) => field({ label })) })
    expect(pathsOf(labels('Size', 'Colour'))).toEqual([])
    expect(pathsOf(labels('Size', 'Colour', 'size', 'ＳＩＺＥ'))).toEqual([
      'requirement_fields.2.label',
      'requirement_fields.3.label',
    ])
  })

  test.each(['__proto__', 'constructor', 'prototype'])(
    'rejects the label %s, which cannot be a field name',
    (label) => {
      expect(pathsOf({ requirementFields: [field({ label })] })).toEqual(['requirement_fields.0.label'])
    },
  )

  test('only a select has options, and they are unique', () => {
    const path = ['requirement_fields.0.options']
    const of = (said: Partial<RequirementField>) => pathsOf({ requirementFields: [field(said)] })
    expect(of({ type: 'select' })).toEqual(path)
    expect(of({ type: 'select', options: [] })).toEqual(path)
    expect(of({ type: 'select', options: ['a', 'a'] })).toEqual(path)
    expect(of({ type: 'number', options: ['a'] })).toEqual(path)
    expect(of({ type: 'select', options: ['a', 'b'] })).toEqual([])
  })

  test('is rejected with every invalid field and the messages of the contract', () => {
    const bad = offerOf({ priceType: 'weekly', price: null })
    expect(() => rejectInvalidOffer(bad, MIN_PRICE)).toThrow(
      expect.objectContaining({ kind: 'invalid', extra: { details: offerErrors(bad, MIN_PRICE) } }),
    )
    expect(offerErrors(bad, MIN_PRICE)).toHaveLength(2)
  })
})

test('accepts the last active listing of the limit; the error for the next one names what to do', () => {
  rejectTooManyActive(MAX_ACTIVE)
  expect(() => rejectTooManyActive(MAX_ACTIVE + 1)).toThrow(/Deactivate one/)
})

describe('a slug', () => {
  test.each([
    ['A Portrait, in Oil!', 'a-portrait-in-oil'],
    ['Résumé & CV', 'resume-cv'],
    ['画を描きます', '画を描きます'],
    ['¡¡¡!!!', 'service'],
    ['x'.repeat(100), 'x'.repeat(80)],
  ])('of %j is %j', (title, slug) => {
    expect(slugOf(title)).toBe(slug)
  })

  test('has at most 80 characters, even when a character decomposes into many', () => {
    expect([...slugOf('ﷺ'.repeat(80))].length).toBeLessThanOrEqual(80)
  })
})
