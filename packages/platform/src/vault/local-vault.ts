import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { HashPurpose, SealContext, Vault } from '@market/core/ports/vault'
import {
  aadOf,
  encodeSealed,
  IV_BYTES,
  KEY_BYTES,
  parseSealed,
  SEALED_VERSION,
  TAG_BYTES,
} from './sealed-bytes.ts'
import type { SeedPublicKey } from './seed-keys.ts'
import { seedSealer } from './seed-seal.ts'

export interface LocalVaultSettings {
  /** Key-encryption keys of 32 bytes. The first one encrypts, and all of them decrypt. */
  readonly keys: readonly { readonly id: string; readonly key: Buffer }[]
  /** Keys of the fingerprints, of 32 bytes. The first one of a purpose makes them, and all of them verify. */
  readonly hashKeys: Readonly<Record<HashPurpose, readonly Buffer[]>>
  /** The key that seeds of wallets are sealed to. */
  readonly seedKey: SeedPublicKey
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
  const hashKeys = readHashKeys(settings.hashKeys)
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

    sealSeed: seedSealer(settings.seedKey),

    fingerprint: (purpose, text) => hmac(hashKeys[purpose][0], text),

    fingerprints: (purpose, text) => hashKeys[purpose].map((key) => hmac(key, text)),

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

type HashKeys = Readonly<Record<HashPurpose, readonly [KeyObject, ...KeyObject[]]>>

/** Two purposes must not make hashes with one key: whoever got it from one could forge those of the other. */
function readHashKeys(settings: LocalVaultSettings['hashKeys']): HashKeys {
  const current = new Map<string, string>()
  const read = (purpose: HashPurpose): readonly [KeyObject, ...KeyObject[]] => {
    const [first, ...others] = settings[purpose].map((key) => {
      if (key.length !== KEY_BYTES) throw new Error(`a key of ${purpose} is not ${KEY_BYTES} bytes long`)
      return createSecretKey(key)
    })
    if (first === undefined) throw new Error(`${purpose} needs at least one key`)
    const text = first.export().toString('hex')
    const same = current.get(text)
    if (same !== undefined) throw new Error(`${same} and ${purpose} have the same key. Give each its own.`)
    current.set(text, purpose)
    return [first, ...others]
  }
  return {
    api_key: read('api_key'),
    x402_claim: read('x402_claim'),
    access_token: read('access_token'),
    file_url: read('file_url'),
    audit: read('audit'),
  }
}

const hmac = (key: KeyObject, text: string): Buffer => createHmac('sha256', key).update(text, 'utf8').digest()

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

const aadOfDataKey = (keyId: string): Buffer => aadOf(SEALED_VERSION, 'data-key', keyId)
const aadOfValue = (place: SealContext): Buffer => aadOf(SEALED_VERSION, 'value', place.row, place.field)
