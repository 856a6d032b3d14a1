import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'

/** X25519 keys that the seeds of agents' wallets are sealed to. */
export interface SeedPublicKey {
  /** The first 8 bytes of the SHA-256 of the public key, in hex. Sealed values name the key by it. */
  readonly id: string
  readonly bytes: Buffer
}

export interface SeedPrivateKey {
  readonly publicKey: SeedPublicKey
  readonly bytes: Buffer
}

export const SEED_KEY_ID_BYTES = 8
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex')
const RAW_BYTES = 32

export function newSeedKey(): SeedPrivateKey {
  const { privateKey } = generateKeyPairSync('x25519')
  return privateKeyOf(privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-RAW_BYTES))
}

export function privateKeyOf(bytes: Buffer): SeedPrivateKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, bytes]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return { publicKey: publicKeyOf(spki.subarray(-RAW_BYTES)), bytes }
}

const publicKeyOf = (bytes: Buffer): SeedPublicKey => ({
  id: createHash('sha256')
    .update(bytes)
    .digest('hex')
    .slice(0, 2 * SEED_KEY_ID_BYTES),
  bytes,
})

export const formatPublicKey = ({ id, bytes }: SeedPublicKey): string =>
  `public-${id}:${bytes.toString('hex')}`

export const formatPrivateKey = ({ publicKey, bytes }: SeedPrivateKey): string =>
  `private-${publicKey.id}:${bytes.toString('hex')}`

/**
 * Undefined when the text is not a public key. A seed that is sealed to a mistyped key is lost, so the id in the text
 * must match the key.
 */
export function parsePublicKey(text: string): SeedPublicKey | undefined {
  const bytes = bytesIn(text, 'public')
  const key = bytes && publicKeyOf(bytes)
  return key && formatPublicKey(key) === text ? key : undefined
}

export function parsePrivateKey(text: string): SeedPrivateKey | undefined {
  const bytes = bytesIn(text, 'private')
  const key = bytes && privateKeyOf(bytes)
  return key && formatPrivateKey(key) === text ? key : undefined
}

function bytesIn(text: string, half: 'public' | 'private'): Buffer | undefined {
  const hex = new RegExp(`^${half}-[0-9a-f]{16}:([0-9a-f]{64})$`).exec(text)?.[1]
  return hex === undefined ? undefined : Buffer.from(hex, 'hex')
}
