import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { SealContext, Vault } from '@market/core/ports/vault'
import { encodeSealed, IV_BYTES, KEY_BYTES, parseSealed, SEALED_VERSION, TAG_BYTES } from './sealed-bytes.ts'

export interface LocalVaultSettings {
  /** Key-encryption keys of 32 bytes. The first one encrypts, and all of them decrypt. */
  readonly keys: readonly { readonly id: string; readonly key: Buffer }[]
  /** Key of the fingerprints, at least 32 bytes. */
  readonly pepper: Buffer
}

interface DataKey {
  readonly key: KeyObject
  readonly wrapped: Buffer
}

const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/
/** Random IVs are safe for 2^32 uses of a key. This limit is far below that. */
const SEALS_PER_DATA_KEY = 1_000
const REMEMBERED_DATA_KEYS = 1_000

/** Envelope encryption with keys in this process: a data key encrypts the value, and a key-encryption key encrypts the data key. */
export function localVault(settings: LocalVaultSettings): Vault {
  const keys = readKeys(settings.keys)
  const currentId = settings.keys[0]?.id
  if (currentId === undefined) throw new Error('the vault needs at least one key')
  if (settings.pepper.length < KEY_BYTES) throw new Error(`the pepper is shorter than ${KEY_BYTES} bytes`)
  const pepper = createSecretKey(settings.pepper)
  const unwrapped = new Map<string, KeyObject>()

  function keyOf(id: string): KeyObject {
    const key = keys.get(id)
    if (key === undefined)
      throw new Error(`the vault has no key "${id}". Configure it again until all values are resealed.`)
    return key
  }

  let dataKey: DataKey | undefined
  let sealsLeft = 0
  function nextDataKey(id: string): DataKey {
    if (dataKey === undefined || sealsLeft === 0) {
      const plain = randomBytes(KEY_BYTES)
      dataKey = { key: createSecretKey(plain), wrapped: encrypt(keyOf(id), plain, aadOfDataKey(id)) }
      plain.fill(0)
      sealsLeft = SEALS_PER_DATA_KEY
    }
    sealsLeft -= 1
    return dataKey
  }

  function unwrap(id: string, wrapped: Buffer): KeyObject {
    const key = keyOf(id)
    const name = `${id}:${wrapped.toString('base64')}`
    const known = unwrapped.get(name)
    if (known !== undefined) return known
    const plain = decrypt(key, wrapped, aadOfDataKey(id))
    const fresh = createSecretKey(plain)
    plain.fill(0)
    for (const oldest of unwrapped.keys()) {
      if (unwrapped.size < REMEMBERED_DATA_KEYS) break
      unwrapped.delete(oldest)
    }
    unwrapped.set(name, fresh)
    return fresh
  }

  return {
    seal(plain, place) {
      const { key, wrapped } = nextDataKey(currentId)
      // Encoding would change text that is not well-formed.
      if (!plain.isWellFormed()) throw new Error('the vault encrypts only well-formed text')
      const body = encrypt(key, Buffer.from(plain, 'utf8'), aadOfValue(place))
      return encodeSealed({ keyId: currentId, wrapped, body })
    },

    async open(sealed, place) {
      const { keyId, wrapped, body } = parseSealed(sealed)
      return decrypt(unwrap(keyId, wrapped), body, aadOfValue(place)).toString('utf8')
    },

    fingerprint: (secret) => createHmac('sha256', pepper).update(secret, 'utf8').digest(),

    needsReseal: (sealed) => parseSealed(sealed).keyId !== currentId,
  }
}

function readKeys(keys: LocalVaultSettings['keys']): ReadonlyMap<string, KeyObject> {
  const byId = new Map<string, KeyObject>()
  for (const { id, key } of keys) {
    if (!KEY_ID.test(id)) throw new Error(`"${id}" is not a key id`)
    if (byId.has(id)) throw new Error(`the vault has two keys with the id "${id}"`)
    if (key.length !== KEY_BYTES) throw new Error(`key "${id}" is not ${KEY_BYTES} bytes long`)
    byId.set(id, createSecretKey(key))
  }
  return byId
}

/** iv, tag, ciphertext. */
function encrypt(key: KeyObject, plain: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(aad)
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted])
}

function decrypt(key: KeyObject, bytes: Buffer, aad: Buffer): Buffer {
  const iv = bytes.subarray(0, IV_BYTES)
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(aad).setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
}

const aadOfDataKey = (keyId: string): Buffer => aadOf('data-key', keyId)
const aadOfValue = (place: SealContext): Buffer => aadOf('value', place.row, place.field)

/** Prefixes every part with its length, so that different lists never give the same bytes. */
function aadOf(...parts: readonly string[]): Buffer {
  const pieces = parts.flatMap((part) => {
    const bytes = Buffer.from(part, 'utf8')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat([Buffer.of(SEALED_VERSION), ...pieces])
}
