import { verify } from 'node:crypto'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { getAddressDecoder } from '@solana/kit'
import { type KmsSettings, openKmsKey } from './kms-client.ts'

/** An Ed25519 key in AWS KMS that signs for a Solana treasury. */
export const kmsSolanaSigner = async (settings: KmsSettings): Promise<SolanaKeySigner> => {
  const key = await openKmsKey(settings, 'ECC_NIST_EDWARDS25519', 'ED25519_SHA_512')
  const { x } = key.publicKey.export({ format: 'jwk' })
  assert(x !== undefined, 'an Ed25519 key has an x coordinate')
  return {
    address: getAddressDecoder().decode(Buffer.from(x, 'base64url')),
    async signMessage(message) {
      const signature = await key.sign(message, 'RAW')
      if (!verify(null, message, key.publicKey, signature)) {
        throw new Error('the KMS signed with a different key than the public key it returned')
      }
      return Uint8Array.from(signature)
    },
  }
}
