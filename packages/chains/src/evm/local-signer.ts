import type { EvmTreasurySigner } from '@market/core/ports/signer'
import { bytesToHex, type Hex, hexToBigInt } from 'viem'
import { privateKeyToAddress, sign } from 'viem/accounts'

/** Holds the key in this process. */
export const localEvmSigner = (privateKey: Hex): EvmTreasurySigner => ({
  address: privateKeyToAddress(privateKey),
  async signHash(hash) {
    const { r, s, yParity } = await sign({ hash: bytesToHex(hash), privateKey })
    return { r: hexToBigInt(r), s: hexToBigInt(s), yParity: yParity === 1 ? 1 : 0 }
  },
})
