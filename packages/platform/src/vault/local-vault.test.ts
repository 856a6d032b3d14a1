import { createHmac, randomBytes } from 'node:crypto'
import { ApiError } from '@market/kernel/api-error'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { localVault } from './local-vault.ts'
import { newSeedKey } from './seed-keys.ts'

const OLD = { id: '2025-a', key: randomBytes(32) }
const NEW = { id: '2026-b', key: randomBytes(32) }
const hashKeys = {
  api_key: [randomBytes(32)],
  x402_claim: [randomBytes(32)],
  access_token: [randomBytes(32)],
  file_url: [randomBytes(32)],
  audit: [randomBytes(32)],
}
const seedKey = newSeedKey().publicKey
const COMMON = { hashKeys, seedKey }
const PLACE = { row: 'agt_1', field: 'api_key' }
const SECRET = 'market_S3cret'

const vault = localVault({ keys: [OLD], ...COMMON })

async function faultOf(opening: Promise<string>): Promise<Error> {
  const error = await opening.then(
    () => new Error('the value was decrypted'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error) || error.message === 'the value was decrypted') throw error
  expect(error).not.toBeInstanceOf(ApiError)
  expect(error.message).not.toContain(SECRET)
  return error
}

describe('sealing', () => {
  test('decrypts any well-formed text in its own context', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), fc.string(), async (text, row, field) => {
        expect(await vault.open(vault.seal(text, { row, field }), { row, field })).toBe(text)
      }),
    )
  })

  test('the same secret gives different bytes each time, and they do not contain it', () => {
    const [one, two] = [vault.seal(SECRET, PLACE), vault.seal(SECRET, PLACE)]
    expect(one.equals(two)).toBe(false)
    expect(one.includes(SECRET)).toBe(false)
  })

  test('data keys change over time, and all values can still be decrypted', async () => {
    const sealed = Array.from({ length: 2_500 }, (_, i) => vault.seal(String(i), PLACE))
    const wrapped = new Set(sealed.map((bytes) => bytes.toString('hex', 8, 68)))
    expect(wrapped.size).toBeGreaterThanOrEqual(3)
    const opened = await Promise.all(sealed.map((bytes) => vault.open(bytes, PLACE)))
    expect(opened).toEqual(sealed.map((_, i) => String(i)))
  })

  test('rejects text that is not well-formed', () => {
    expect(() => vault.seal('a\ud800', PLACE)).toThrow('well-formed')
  })
})

describe('a changed value cannot be decrypted', () => {
  test.each([
    ['another row', { row: 'agt_2', field: 'api_key' }],
    ['another field', { row: 'agt_1', field: 'webhook_secret' }],
    ['row and field shifted into each other', { row: 'agt_1api', field: '_key' }],
    ['row and field swapped', { row: 'api_key', field: 'agt_1' }],
    ['no place', { row: '', field: '' }],
  ])('moved to %s', async (_name, place) => {
    await faultOf(vault.open(vault.seal(SECRET, PLACE), place))
  })

  test('shortened at any position', async () => {
    const sealed = vault.seal(SECRET, PLACE)
    for (let length = 0; length < sealed.length; length++) {
      await faultOf(vault.open(sealed.subarray(0, length), PLACE))
    }
    await faultOf(vault.open(Buffer.concat([sealed, Buffer.of(0)]), PLACE))
  })

  test('one bit changed at any position (asvs V11.1)', async () => {
    const sealed = vault.seal(SECRET, PLACE)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const flipped = Buffer.from(sealed)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await faultOf(vault.open(flipped, PLACE))
    }
  })

  test('with the data key of another value', async () => {
    const other = localVault({ keys: [OLD], ...COMMON })
    const [mine, theirs] = [vault.seal(SECRET, PLACE), other.seal(SECRET, PLACE)]
    const bodyAt = 2 + OLD.id.length + 60
    await faultOf(vault.open(Buffer.concat([theirs.subarray(0, bodyAt), mine.subarray(bodyAt)]), PLACE))
  })

  test('sealed with another key of the same id', async () => {
    const otherUser = localVault({ keys: [{ id: OLD.id, key: randomBytes(32) }], ...COMMON })
    await faultOf(vault.open(otherUser.seal(SECRET, PLACE), PLACE))
  })
})

describe('key rotation', () => {
  const both = localVault({ keys: [NEW, OLD], ...COMMON })
  const newOnly = localVault({ keys: [NEW], ...COMMON })

  test('with both keys, old values are decrypted and need resealing, and new ones use the new key', async () => {
    const old = vault.seal(SECRET, PLACE)
    expect(await both.open(old, PLACE)).toBe(SECRET)
    expect(both.needsReseal(old)).toBe(true)
    expect(vault.needsReseal(old)).toBe(false)

    const fresh = both.seal(await both.open(old, PLACE), PLACE)
    expect(both.needsReseal(fresh)).toBe(false)
    expect(await newOnly.open(fresh, PLACE)).toBe(SECRET)
  })

  test('without the old key, its values cannot be decrypted', async () => {
    const error = await faultOf(newOnly.open(vault.seal(SECRET, PLACE), PLACE))
    expect(error.message).toBe(
      'the vault has no key "2025-a". Configure it again until all values are resealed.',
    )
  })

  test('needsReseal throws for bytes that are not a sealed value', () => {
    expect(() => both.needsReseal(Buffer.from('nonsense'))).toThrow('unknown version')
  })
})

describe('fingerprints', () => {
  const withKeys = (keys: Partial<typeof hashKeys>) =>
    localVault({ keys: [OLD], seedKey, hashKeys: { ...hashKeys, ...keys } })

  test('are a keyed hash of the text, with another key for each purpose', () => {
    const [key = Buffer.alloc(0)] = hashKeys.api_key
    expect(vault.fingerprint('api_key', SECRET)).toEqual(createHmac('sha256', key).update(SECRET).digest())
    const purposes = ['api_key', 'x402_claim', 'access_token', 'file_url', 'audit'] as const
    const all = purposes.map((purpose) => vault.fingerprint(purpose, SECRET).toString('hex'))
    expect(new Set(all).size).toBe(purposes.length)
  })

  test('do not change when the vault key rotates', () => {
    const rotated = localVault({ keys: [NEW], ...COMMON })
    expect(rotated.fingerprint('api_key', SECRET)).toEqual(vault.fingerprint('api_key', SECRET))
  })

  test('with two keys, the first one makes them and both are accepted; other purposes do not change', () => {
    const both = withKeys({ api_key: [randomBytes(32), ...hashKeys.api_key] })
    const old = vault.fingerprint('api_key', SECRET)
    expect(both.fingerprint('api_key', SECRET)).not.toEqual(old)
    expect(both.fingerprints('api_key', SECRET)).toEqual([both.fingerprint('api_key', SECRET), old])
    expect(both.fingerprints('audit', SECRET)).toEqual([vault.fingerprint('audit', SECRET)])
  })

  test('one former key can serve several purposes, but not as the current key of two', () => {
    const former = randomBytes(32)
    withKeys({ api_key: [randomBytes(32), former], audit: [randomBytes(32), former] })
    expect(() => withKeys({ api_key: [former], audit: [former] })).toThrow(
      'api_key and audit have the same key. Give each its own.',
    )
  })
})

test.each([
  ['no key', { keys: [], ...COMMON }],
  ['a short key', { keys: [{ id: 'a', key: randomBytes(16) }], ...COMMON }],
  ['two keys of one name', { keys: [OLD, OLD], ...COMMON }],
  ['a key without a name', { keys: [{ id: '', key: randomBytes(32) }], ...COMMON }],
  ['a short hash key', { keys: [OLD], seedKey, hashKeys: { ...hashKeys, audit: [randomBytes(8)] } }],
  ['a purpose without a hash key', { keys: [OLD], seedKey, hashKeys: { ...hashKeys, audit: [] } }],
])('a vault with %s does not start', (_name, settings) => {
  expect(() => localVault(settings)).toThrow()
})
