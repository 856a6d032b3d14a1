import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  randomBytes,
} from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  formatPrivateKey,
  formatPublicKey,
  newSeedKey,
  parsePrivateKey,
  parsePublicKey,
} from './seed-keys.ts'
import { seedOpener, seedSealer } from './seed-seal.ts'

const OLD = newSeedKey()
const NEW = newSeedKey()
const PLACE = { row: 'agent_wallets:agt_1:solana:A', field: 'secret' }
const SEED = randomBytes(32)

const seal = seedSealer(OLD.publicKey)
const opener = seedOpener([OLD])

describe('sealing a seed', () => {
  test('opens with the private key in its own row and field only', async () => {
    const sealed = await seal(SEED, PLACE)
    expect(await opener.open(sealed, PLACE)).toEqual(SEED)
    expect(sealed).toHaveLength(89)
    expect(sealed.includes(SEED)).toBe(false)
    for (const other of [
      { ...PLACE, row: 'agent_wallets:agt_2:solana:A' },
      { ...PLACE, field: 'other' },
      { row: `${PLACE.row}s`, field: 'ecret' },
    ])
      await expect(opener.open(sealed, other)).rejects.toThrow()
  })

  test('gives other bytes each time', async () => {
    expect(await seal(SEED, PLACE)).not.toEqual(await seal(SEED, PLACE))
  })

  test('a value with one bit changed, shortened or extended does not open', async () => {
    const sealed = await seal(SEED, PLACE)
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      await expect(opener.open(changed, PLACE)).rejects.toThrow()
    }
    await expect(opener.open(sealed.subarray(0, 88), PLACE)).rejects.toThrow('wrong length')
    await expect(opener.open(Buffer.concat([sealed, Buffer.of(0)]), PLACE)).rejects.toThrow('wrong length')
    await expect(opener.open(Buffer.alloc(0), PLACE)).rejects.toThrow('unknown version')
  })

  test('rejects a seed of another length', async () => {
    await expect(seal(randomBytes(31), PLACE)).rejects.toThrow('a seed has 32 bytes, not 31')
  })

  test('is HPKE as RFC 9180 defines it: node:crypto alone opens the value (asvs V11.2)', async () => {
    expect(openByRfc9180(await seal(SEED, PLACE))).toEqual(SEED)
  })
})

describe('rotation', () => {
  test('with both keys, old values open and need resealing; without the old key they do not open', async () => {
    const old = await seal(SEED, PLACE)
    const fresh = await seedSealer(NEW.publicKey)(SEED, PLACE)
    const both = seedOpener([NEW, OLD])
    const newOnly = seedOpener([NEW])
    expect([await both.open(old, PLACE), await both.open(fresh, PLACE)]).toEqual([SEED, SEED])
    expect([both.needsReseal(old), both.needsReseal(fresh), opener.needsReseal(old)]).toEqual([
      true,
      false,
      false,
    ])
    expect([newOnly.hasKeyOf(old), newOnly.hasKeyOf(fresh)]).toEqual([false, true])
    await expect(newOnly.open(old, PLACE)).rejects.toThrow(
      `this process has no private key "${OLD.publicKey.id}". Configure it again until all seeds are resealed.`,
    )
  })
})

describe('keys as text', () => {
  test('are read back, and name the pair that they belong to', () => {
    const [publicText, privateText] = [formatPublicKey(OLD.publicKey), formatPrivateKey(OLD)]
    expect(parsePublicKey(publicText)).toEqual(OLD.publicKey)
    expect(parsePrivateKey(privateText)).toEqual(OLD)
    expect(publicText.split(':')[0]).toBe(`public-${OLD.publicKey.id}`)
    expect(privateText.split(':')[0]).toBe(`private-${OLD.publicKey.id}`)
  })

  test('one half is not accepted as the other, and a mistyped key is rejected', () => {
    const [publicText, privateText] = [formatPublicKey(OLD.publicKey), formatPrivateKey(OLD)]
    expect(parsePublicKey(privateText)).toBeUndefined()
    expect(parsePrivateKey(publicText)).toBeUndefined()
    expect(parsePublicKey(privateText.replace('private', 'public'))).toBeUndefined()
    for (const [text, parse] of [
      [publicText, parsePublicKey],
      [privateText, parsePrivateKey],
    ] as const) {
      const digit = text.at(-10) === 'a' ? 'b' : 'a'
      expect(parse(text.slice(0, -10) + digit + text.slice(-9))).toBeUndefined()
    }
  })
})

/** HPKE base mode (sections 4.1, 5.1 and 5.2 of the RFC) written out, for X25519, HKDF-SHA256 and AES-256-GCM. */
function openByRfc9180(sealed: Buffer): Buffer {
  const [encapsulated, ciphertext] = [sealed.subarray(9, 41), sealed.subarray(41)]
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), OLD.bytes]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), encapsulated]),
    format: 'der',
    type: 'spki',
  })
  const kem = labeled(Buffer.from('KEM\x00\x20', 'latin1'))
  const prk = kem.extract('', 'eae_prk', diffieHellman({ privateKey, publicKey }))
  const secret = kem.expand(prk, 'shared_secret', Buffer.concat([encapsulated, OLD.publicKey.bytes]), 32)
  const hpke = labeled(Buffer.from('HPKE\x00\x20\x00\x01\x00\x02', 'latin1'))
  const context = Buffer.concat([
    Buffer.of(0),
    hpke.extract('', 'psk_id_hash', Buffer.alloc(0)),
    hpke.extract('', 'info_hash', Buffer.from('agent-market wallet seed')),
  ])
  const schedule = hpke.extract(secret, 'secret', Buffer.alloc(0))
  const key = hpke.expand(schedule, 'key', context, 32)
  const nonce = hpke.expand(schedule, 'base_nonce', context, 12)
  const parts = ['seed', PLACE.row, PLACE.field].flatMap((part) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(part.length)
    return [length, Buffer.from(part)]
  })
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
  decipher.setAAD(Buffer.concat([Buffer.of(2), ...parts])).setAuthTag(ciphertext.subarray(-16))
  return Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()])
}

const labeled = (suite: Buffer) => ({
  extract: (salt: string | Buffer, label: string, input: Buffer): Buffer =>
    createHmac('sha256', salt)
      .update(Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label), input]))
      .digest(),
  expand: (prk: Buffer, label: string, info: Buffer, length: number): Buffer => {
    const text = Buffer.concat([
      Buffer.of(0, length),
      Buffer.from('HPKE-v1'),
      suite,
      Buffer.from(label),
      info,
    ])
    // One block of HKDF-Expand is enough for 32 bytes.
    return createHmac('sha256', prk).update(text).update(Buffer.of(1)).digest().subarray(0, length)
  },
})
