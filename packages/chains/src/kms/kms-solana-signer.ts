import { verify } from 'node:crypto'
import type { SolanaTreasurySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { getAddressDecoder } from '@solana/kit'
import { type KmsSettings, openKmsKey } from './kms-client.ts'

/** An Ed25519 key in AWS KMS that signs for a Solana treasury. */
export const kmsSolanaSigner = async (settings: KmsSettings): Promise<SolanaTreasurySigner> => {
  const key = await openKmsKey(settings, 'ECC_NIST_EDWARDS25519', 'ED25519_SHA_512')
  const { x } = key.publicKey.export({ format: 'jwk' })
  assert(x !== undefined, 'an Ed25519 key is one number')
  return {
    address: getAddressDecoder().decode(Buffer.from(x, 'base64url')),
    async signMessage(message) {
      const signature = await key.sign(message, 'RAW')
      if (!verify(null, message, key.publicKey, signature)) {
        throw new Error('the KMS signed with another key than the one it showed')
      }
      return Uint8Array.from(signature)
    },
  }
}
