import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fingerprintOf } from './service-request.ts'

const SUBJECT = 'service:svc_1'
const EXTRAS = { referenceUrls: ['https://a.example'], referenceImages: [], isPrivate: false }

test('fingerprint: unchanged for requests with only the first fields', () => {
  const words = JSON.stringify([
    SUBJECT,
    'Read.',
    [
      ['a', 1],
      ['b', 'x'],
    ],
  ])
  const before = createHash('sha256').update(words).digest()
  expect(fingerprintOf(SUBJECT, ' Read. ', { b: 'x', a: 1 })).toEqual(before)
  expect(fingerprintOf(SUBJECT, 'Read.', { a: 1, b: 'x' }, undefined)).toEqual(before)
})

test('fingerprint: differs when any field differs', () => {
  const asked = [
    undefined,
    EXTRAS,
    { ...EXTRAS, isPrivate: true },
    { ...EXTRAS, referenceUrls: [], referenceImages: EXTRAS.referenceUrls },
    { ...EXTRAS, referenceUrls: [...EXTRAS.referenceUrls, 'https://b.example'] },
  ]
  const prints = asked.map((extras) => fingerprintOf(SUBJECT, 'Read.', {}, extras).toString('hex'))
  expect(new Set(prints).size).toBe(asked.length)
})
