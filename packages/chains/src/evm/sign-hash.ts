import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { type Hex, hexToBytes, isAddressEqual, numberToHex, recoverAddress } from 'viem'
import { parseAddress } from './settings.ts'

/** Signs a hash and checks that the signature is from the signer's account. */
export const signHash = async (
  signer: EvmKeySigner,
  hash: Hex,
): Promise<{ readonly r: Hex; readonly s: Hex; readonly yParity: 0 | 1 }> => {
  const account = parseAddress(signer.address)
  assert(account !== undefined, 'the signer has an EVM address')
  const { r, s, yParity } = await signer.signHash(hexToBytes(hash))
  const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity }
  // With a wrong recovery bit the signature would belong to another account.
  const recovered = await recoverAddress({ hash, signature })
  assert(isAddressEqual(recovered, account), 'the signature is from the signer’s key')
  return signature
}
