import type { EvmKeySigner, SolanaKeySigner } from '@market/core/ports/signer'
import { createKeyPairFromPrivateKeyBytes, getAddressFromPublicKey, signBytes } from '@solana/kit'
import { bytesToHex, type Hex, hexToBigInt } from 'viem'
import { privateKeyToAddress, sign } from 'viem/accounts'

/** Signs with a key in this process. For development and small balances. */
export const localEvmSigner = (privateKey: Hex): EvmKeySigner => ({
  address: privateKeyToAddress(privateKey),
  async signHash(hash) {
    const { r, s, yParity } = await sign({ hash: bytesToHex(hash), privateKey })
    return { r: hexToBigInt(r), s: hexToBigInt(s), yParity: yParity === 1 ? 1 : 0 }
  },
})

/** Signs with a key in this process that cannot be exported. For development and small balances. */
export const localSolanaSigner = async (seed: Uint8Array): Promise<SolanaKeySigner> => {
  const { privateKey, publicKey } = await createKeyPairFromPrivateKeyBytes(seed)
  return {
    address: await getAddressFromPublicKey(publicKey),
    signMessage: (message) => signBytes(privateKey, message),
  }
}
