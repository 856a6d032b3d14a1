import type { SecretExporter } from '@market/core/ports/vault'
import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_DHKEM_X25519_HKDF_SHA256 } from 'hpke'

const SUITE = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM)

/** Seals an exported key with HPKE (RFC 9180) in base mode, so that only the holder of the private key reads it. */
export const secretExporter: SecretExporter = {
  async sealTo(publicKey, secret, info) {
    const key = await SUITE.DeserializePublicKey(Buffer.from(publicKey, 'base64url'))
    const { encapsulatedSecret, ciphertext } = await SUITE.Seal(key, secret, { info: Buffer.from(info) })
    return [encapsulatedSecret, ciphertext].map((part) => Buffer.from(part).toString('base64url')).join('.')
  },
}
