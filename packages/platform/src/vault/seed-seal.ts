import type { SealContext, SeedOpener, Vault } from '@market/core/ports/vault'
import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_DHKEM_X25519_HKDF_SHA256 } from 'hpke'
import { aadOf } from './sealed-bytes.ts'
import { SEED_KEY_ID_BYTES, type SeedPrivateKey, type SeedPublicKey } from './seed-keys.ts'

/**
 * Stored format of a sealed seed, version 2, with HPKE (RFC 9180) in base mode:
 *
 *   1 byte     version
 *   8 bytes    id of the public key
 *   32 bytes   encapsulated key: an ephemeral X25519 public key
 *   48 bytes   seed under AES-256-GCM: ciphertext 32, tag 16
 *
 * The seed is bound to the version, the row and the field. A migration repeats version and length as a CHECK.
 */
const VERSION = 2
const SEED_BYTES = 32
const ENCAPSULATED_BYTES = 32
const ENCAPSULATED_AT = 1 + SEED_KEY_ID_BYTES
const CIPHERTEXT_AT = ENCAPSULATED_AT + ENCAPSULATED_BYTES
const SEALED_BYTES = CIPHERTEXT_AT + SEED_BYTES + 16

const SUITE = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM)
const INFO = Buffer.from('agent-market wallet seed')

const optionsOf = ({ row, field }: SealContext) => ({ info: INFO, aad: aadOf(VERSION, 'seed', row, field) })

/** Seals seeds to the public key. Without its private half, this process cannot open them again. */
export function seedSealer(publicKey: SeedPublicKey): Vault['sealSeed'] {
  const key = SUITE.DeserializePublicKey(publicKey.bytes)
  const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(publicKey.id, 'hex')])
  return async (seed, place) => {
    if (seed.length !== SEED_BYTES) throw new Error(`a seed has ${SEED_BYTES} bytes, not ${seed.length}`)
    const { encapsulatedSecret, ciphertext } = await SUITE.Seal(await key, seed, optionsOf(place))
    return Buffer.concat([head, encapsulatedSecret, ciphertext])
  }
}

/** Opens seeds with any of the private keys; the first one is the current key. */
export function seedOpener(keys: readonly SeedPrivateKey[]): SeedOpener {
  const [current] = keys
  if (current === undefined) throw new Error('the seed opener needs at least one private key')
  const byId = new Map(keys.map((key) => [key.publicKey.id, keyPairOf(key)]))
  return {
    async open(sealed, place) {
      const id = keyIdOf(sealed)
      const pair = byId.get(id)
      if (pair === undefined)
        throw new Error(
          `this process has no private key "${id}". Configure it again until all seeds are resealed.`,
        )
      const encapsulated = sealed.subarray(ENCAPSULATED_AT, CIPHERTEXT_AT)
      return Buffer.from(
        await SUITE.Open(await pair, encapsulated, sealed.subarray(CIPHERTEXT_AT), optionsOf(place)),
      )
    },
    needsReseal: (sealed) => keyIdOf(sealed) !== current.publicKey.id,
    hasKeyOf: (sealed) => byId.has(keyIdOf(sealed)),
  }
}

/** With its public half, because Node derives that one only with a warning. */
const keyPairOf = async ({ publicKey, bytes }: SeedPrivateKey) => ({
  privateKey: await SUITE.DeserializePrivateKey(bytes),
  publicKey: await SUITE.DeserializePublicKey(publicKey.bytes),
})

function keyIdOf(sealed: Buffer): string {
  if (sealed[0] !== VERSION || sealed.length !== SEALED_BYTES)
    throw new Error('sealed seed: unknown version or wrong length')
  return sealed.toString('hex', 1, ENCAPSULATED_AT)
}
