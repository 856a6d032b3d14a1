import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sha256 } from './sha256.ts'

test('sha256: the same as OpenSSL for every length around one and two blocks, and for other scripts', () => {
  const texts = Array.from({ length: 140 }, (_, length) => 'aé🐟x\n'.repeat(30).slice(0, length))
  for (const text of [...texts, 'y'.repeat(10_000), 'שלום'])
    expect(sha256(text)).toBe(createHash('sha256').update(text.toWellFormed()).digest('hex'))
})
