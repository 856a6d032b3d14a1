import { usdc } from '@market/kernel/money'
import { offerOf } from '@market/testing/make-listing'
import { describe, expect, test } from 'vitest'
import {
  MAX_ACTIVE,
  offerErrors,
  type RequirementField,
  rejectInvalidOffer,
  rejectTooManyActive,
} from './listing.ts'
import { slugOf } from './slug.ts'

const pathsOf = (said: Parameters<typeof offerOf>[0]) => offerErrors(offerOf(said)).map(({ path }) => path)

const field = (said: Partial<RequirementField> = {}): RequirementField => ({
  label: 'Size',
  type: 'text',
  required: true,
  ...said,
})

describe('an offer', () => {
  test.each(['fixed', 'weekly', 'monthly'] as const)('%s needs a price', (priceType) => {
    expect(pathsOf({ priceType, price: null, quotaLimit: 1 })).toEqual(['price_usd'])
    expect(pathsOf({ priceType, price: usdc(1n), quotaLimit: 1 })).toEqual([])
  })

  test('a quote may name a price it begins at, or none', () => {
    expect(pathsOf({ priceType: 'quote', price: null })).toEqual([])
    expect(pathsOf({ priceType: 'quote', price: usdc(1n) })).toEqual([])
  })

  test.each(['weekly', 'monthly'] as const)('%s says how much a period holds', (priceType) => {
    expect(pathsOf({ priceType, quotaLimit: 0 })).toEqual(['quota_limit'])
    expect(pathsOf({ priceType, quotaLimit: 1 })).toEqual([])
  })

  test('what is sold once may have a quota or none', () => {
    expect(pathsOf({ quotaLimit: 0 })).toEqual([])
    expect(pathsOf({ quotaLimit: 5 })).toEqual([])
  })

  test('labels differ, whatever their case and width', () => {
    const labels = (...all: string[]) => ({ requirementFields: all.map((label) => field({ label })) })
    expect(pathsOf(labels('Size', 'Colour'))).toEqual([])
    expect(pathsOf(labels('Size', 'Colour', 'size', 'ＳＩＺＥ'))).toEqual([
      'requirement_fields.2.label',
      'requirement_fields.3.label',
    ])
  })

  test.each(['__proto__', 'constructor', 'prototype'])('no answer could be sent under %s', (label) => {
    expect(pathsOf({ requirementFields: [field({ label })] })).toEqual(['requirement_fields.0.label'])
  })

  test('a select has options, all different, and nothing else has any', () => {
    const path = ['requirement_fields.0.options']
    const of = (said: Partial<RequirementField>) => pathsOf({ requirementFields: [field(said)] })
    expect(of({ type: 'select' })).toEqual(path)
    expect(of({ type: 'select', options: [] })).toEqual(path)
    expect(of({ type: 'select', options: ['a', 'a'] })).toEqual(path)
    expect(of({ type: 'number', options: ['a'] })).toEqual(path)
    expect(of({ type: 'select', options: ['a', 'b'] })).toEqual([])
  })

  test('is rejected with all that is wrong, in the words of the contract', () => {
    const bad = offerOf({ priceType: 'weekly', price: null })
    expect(() => rejectInvalidOffer(bad)).toThrow(
      expect.objectContaining({ kind: 'invalid', extra: { details: offerErrors(bad) } }),
    )
    expect(offerErrors(bad)).toHaveLength(2)
  })
})

test('the last active listing allowed is allowed, the next one is told what to do', () => {
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

  test('leaves room for a number within what the table takes, even when a letter unfolds into a phrase', () => {
    expect([...slugOf('ﷺ'.repeat(80))].length).toBeLessThanOrEqual(80)
  })
})
