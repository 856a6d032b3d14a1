import { generateKeyPairSync } from 'node:crypto'
import { formatPublicEntry, newReceiptKey, parseReceiptKey } from '@market/platform/vault/receipt-keys'
import { type ReceiptError, verifyReceipt } from '@market/sdk'
import { testReceiptSigner } from '@market/testing/receipts'
import { CompactSign } from 'jose'
import { expect, test } from 'vitest'

const issuer = 'https://market.example'
const CLAIMS = { iss: issuer, sub: 'ord_1', iat: 1_794_784_877, amounts: { paid_usd: '25.00' } }

const key = newReceiptKey()
const signer = testReceiptSigner(key)

const verify = (jws: string, keys: readonly unknown[] = signer.keys) => verifyReceipt(jws, { keys, issuer })
/** Why it is not valid; undefined when it is. */
const problemOf = (jws: string, keys?: readonly unknown[]) =>
  verify(jws, keys).then(
    () => undefined,
    (error: ReceiptError) => error.reason,
  )

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Another letter in one place: the next one, which often has the same bits where they are not used. */
const changedAt = (text: string, at: number, by: number): string => {
  const letter = ALPHABET[(ALPHABET.indexOf(text[at] ?? '') + by) % ALPHABET.length]
  return text.slice(0, at) + letter + text.slice(at + 1)
}

test('a receipt: is valid, says what was signed, and is the same text each time', async () => {
  const jws = await signer.sign(CLAIMS)
  expect(await verify(jws)).toEqual(CLAIMS)
  expect(await signer.sign(CLAIMS)).toBe(jws)
})

test('a changed byte: is refused in every place, and so are bytes that are added, removed or encoded otherwise', async () => {
  const jws = await signer.sign(CLAIMS)
  for (let at = 0; at < jws.length; at++) {
    for (const by of [1, 32]) expect(await problemOf(changedAt(jws, at, by)), `letter ${at}`).toBeDefined()
    expect(await problemOf(jws.slice(0, at) + jws.slice(at + 1)), `without letter ${at}`).toBeDefined()
  }
  for (const other of [`${jws}=`, `${jws}A`, `${jws}.`, ` ${jws}`, `${jws}\n`, jws.replaceAll('.', ','), ''])
    expect(await problemOf(other)).toBeDefined()
  // The last letter of a signature has four bits that a lenient decoder ignores.
  const last = jws.length - 1
  const same = [...ALPHABET]
    .filter((letter) => letter !== jws[last])
    .map((letter) => jws.slice(0, last) + letter)
  for (const other of same) expect(await problemOf(other)).toBeDefined()
})

test('a changed key: receipts of the former key stay valid, also with its public half alone', async () => {
  const old = await signer.sign(CLAIMS)
  const former = parseReceiptKey(key)
  if (former === undefined) throw new Error('the key is one')
  for (const kept of [key, formatPublicEntry(former.publicKey)]) {
    const rotated = testReceiptSigner(`${newReceiptKey()},${kept}`)
    expect(await verify(old, rotated.keys)).toEqual(CLAIMS)
    const fresh = await rotated.sign(CLAIMS)
    expect(await verify(fresh, rotated.keys)).toEqual(CLAIMS)
    expect(await problemOf(fresh)).toBe('unknown_key')
  }
  expect(await problemOf(old, testReceiptSigner().keys)).toBe('unknown_key')
})

test('the setting: a mistyped key, a public half first and a key twice are rejected', () => {
  const entry = parseReceiptKey(key)
  if (entry === undefined) throw new Error('the key is one')
  const half = formatPublicEntry(entry.publicKey)
  const mistyped = changedAt(key, key.length - 1, 1)
  for (const setting of ['', half, mistyped, `${key},${key}`, `${key},${half}`, `${key},`, `${key},x`])
    expect(() => testReceiptSigner(setting), setting).toThrow('must be a list of at most 50 different keys')
})

test('another issuer: is refused', async () => {
  const jws = await signer.sign({ ...CLAIMS, iss: 'https://other.example' })
  await expect(verify(jws)).rejects.toMatchObject({
    reason: 'wrong_issuer',
    message: 'It is a receipt of https://other.example, not of https://market.example.',
  })
})

test('another key with the id of ours, and a key for another use: are refused', async () => {
  const [published] = signer.keys
  const forged = { ...testReceiptSigner().keys[0], kid: published?.kid }
  const jws = await signer.sign(CLAIMS)
  expect(await problemOf(jws, [forged])).toBe('signature_wrong')
  for (const other of [{ use: 'enc' }, { alg: 'ES256' }, { crv: 'X25519' }, { kty: 'EC' }])
    expect(await problemOf(jws, [{ ...published, ...other }])).toBe('unknown_key')
})

test('an access token: is no receipt, whoever signed it', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const sign = (header: { alg: string; typ?: string; kid?: string }) =>
    new CompactSign(Buffer.from(JSON.stringify(CLAIMS))).setProtectedHeader(header).sign(privateKey)
  const keys = [
    ...signer.keys,
    { ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256' },
  ]
  for (const header of [{ typ: 'at+jwt' }, { typ: 'receipt+jwt' }, {}])
    expect(await problemOf(await sign({ alg: 'ES256', kid: 'k', ...header }), keys)).toBe('wrong_type')
  const none = `${Buffer.from('{"alg":"none","typ":"receipt+jwt"}').toString('base64url')}.e30.AA`
  expect(await problemOf(none)).toBe('wrong_type')
})
