import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { getAddressDecoder } from '@solana/kit'

export const SEED_BYTES = 32

/** What precedes the seed in a private key of Ed25519 (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_KEY_BYTES = 32

/** Signs with the key of a seed. Unlike `localSolanaSigner`, it leaves no copy of the seed in JavaScript's memory. */
export const seedSigner = (seed: Uint8Array): SolanaKeySigner => {
  assert(seed.length === SEED_BYTES, 'a seed has 32 bytes')
  const der = Buffer.concat([PKCS8_HEADER, seed])
  try {
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_KEY_BYTES)
    return {
      address: getAddressDecoder().decode(publicKey),
      signMessage: async (message) => sign(null, message, key),
    }
  } finally {
    der.fill(0)
  }
}
