import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { type Hex, numberToHex, recoverAddress, toHex } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { parseDerSignature } from './der-signature.ts'
import { type KmsSettings, openKmsKey } from './kms-client.ts'

/** The order of secp256k1. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const coordinate = (text: string | undefined): Buffer => {
  assert(text !== undefined, 'a secp256k1 key has two coordinates')
  return Buffer.from(text, 'base64url')
}

/** A secp256k1 key in AWS KMS that signs for an EVM treasury. */
export const kmsEvmSigner = async (settings: KmsSettings): Promise<EvmKeySigner> => {
  const key = await openKmsKey(settings, 'ECC_SECG_P256K1', 'ECDSA_SHA_256')
  const { x, y } = key.publicKey.export({ format: 'jwk' })
  const uncompressed = Buffer.concat([Buffer.of(4), coordinate(x), coordinate(y)])
  const address = publicKeyToAddress(toHex(uncompressed))

  /** The KMS does not return the recovery bit. It is the one with which the signature recovers to our address. */
  const parityOf = async (hash: Hex, r: bigint, s: bigint): Promise<0 | 1> => {
    const rs = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }) }
    for (const yParity of [0, 1] as const) {
      const recovered = await recoverAddress({ hash, signature: { ...rs, yParity } }).catch(() => undefined)
      if (recovered === address) return yParity
    }
    throw new Error('the KMS signed with a different key than the public key it returned')
  }

  return {
    address,
    async signHash(hash) {
      assert(hash.length === 32, 'a hash has 32 bytes')
      const { r, s } = parseDerSignature(await key.sign(hash, 'DIGEST'))
      // Both s and N - s are valid signatures, but the chain accepts only the lower one.
      const low = s > N / 2n ? N - s : s
      return { r, s: low, yParity: await parityOf(toHex(hash), r, low) }
    },
  }
}
