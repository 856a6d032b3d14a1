import type { SolanaTreasurySigner } from '@market/core/ports/signer'
import { createKeyPairFromPrivateKeyBytes, getAddressFromPublicKey, signBytes } from '@solana/kit'

/** Holds the key in this process, where it can sign but not be read out again. For development and small floats. */
export const localSolanaSigner = async (seed: Uint8Array): Promise<SolanaTreasurySigner> => {
  const { privateKey, publicKey } = await createKeyPairFromPrivateKeyBytes(seed)
  return {
    address: await getAddressFromPublicKey(publicKey),
    signMessage: (message) => signBytes(privateKey, message),
  }
}
