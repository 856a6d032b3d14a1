import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hintOf, isApiKey, newApiKey, newWebhookSecret } from './api-key.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('API keys', () => {
  test('newApiKey: market_, 43 characters of secret and 6 of checksum; isApiKey accepts it', () => {
    for (let n = 0; n < 2_000; n++) {
      const key = newApiKey()
      expect(key).toMatch(/^market_[0-9A-Za-z]{49}$/)
      expect(isApiKey(key)).toBe(true)
    }
  })

  test('newApiKey: keys are unique', () => {
    expect(new Set(Array.from({ length: 10_000 }, newApiKey)).size).toBe(10_000)
  })

  test('isApiKey: rejects a key with one wrong character', () => {
    const key = newApiKey()
    for (let at = 'market_'.length; at < key.length; at++) {
      for (const letter of BASE62) {
        if (letter === key[at]) continue
        expect(isApiKey(key.slice(0, at) + letter + key.slice(at + 1))).toBe(false)
      }
    }
  })

  test('isApiKey: rejects a key with two swapped characters', () => {
    const key = newApiKey()
    for (let at = 'market_'.length; at < key.length - 1; at++) {
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2)
      expect(isApiKey(swapped)).toBe(swapped === key)
    }
  })

  test('isApiKey: rejects keys of another length or format', () => {
    const key = newApiKey()
    for (const wrong of [
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      key.toUpperCase(),
      key.slice(7),
      '',
      'market_',
    ]) {
      expect(isApiKey(wrong)).toBe(false)
    }
  })

  test('isApiKey: returns a boolean for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => isApiKey(`market_${text}`) === false))
  })

  test('hintOf: returns the last four characters', () => {
    const key = newApiKey()
    expect(hintOf(key)).toBe(key.slice(-4))
  })

  test('newWebhookSecret: contains 32 random bytes', () => {
    expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
    expect(newWebhookSecret()).not.toBe(newWebhookSecret())
  })
})
