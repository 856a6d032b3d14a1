import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  type Hex,
  hexToBytes,
  isAddressEqual,
  keccak256,
  numberToHex,
  recoverAddress,
  serializeTransaction,
} from 'viem'
import type { Fees } from './fees.ts'
import { parseAddress } from './settings.ts'

export interface CallToSign {
  readonly chainId: number
  readonly to: string
  readonly data: Hex
  readonly gas: bigint
  readonly nonce: bigint
  readonly fees: Fees
}

/** Signs a call from the signer's account. Returns the raw transaction and its hash. */
export const signCall = async (
  signer: EvmKeySigner,
  { chainId, to, data, gas, nonce, fees }: CallToSign,
): Promise<{ readonly reference: Hex; readonly bytes: Hex }> => {
  const contract = parseAddress(to)
  const account = parseAddress(signer.address)
  assert(contract !== undefined && account !== undefined, 'the contract and the signer have EVM addresses')
  const call = { chainId, nonce: Number(nonce), to: contract, value: 0n, data, gas }
  const transaction = { type: 'eip1559', ...call, ...fees } as const
  const hash = keccak256(serializeTransaction(transaction))
  const { r, s, yParity } = await signer.signHash(hexToBytes(hash))
  const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity }
  // With a wrong recovery bit the transaction would belong to another account.
  const recovered = await recoverAddress({ hash, signature })
  assert(isAddressEqual(recovered, account), 'the signature is from the signer’s key')
  const bytes = serializeTransaction(transaction, signature)
  return { reference: keccak256(bytes), bytes }
}
