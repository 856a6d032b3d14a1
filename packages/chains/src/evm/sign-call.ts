import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { type Hex, keccak256, serializeTransaction } from 'viem'
import type { Fees } from './fees.ts'
import { parseAddress } from './settings.ts'
import { signHash } from './sign-hash.ts'

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
  assert(contract !== undefined, 'the contract has an EVM address')
  const call = { chainId, nonce: Number(nonce), to: contract, value: 0n, data, gas }
  const transaction = { type: 'eip1559', ...call, ...fees } as const
  const signature = await signHash(signer, keccak256(serializeTransaction(transaction)))
  const bytes = serializeTransaction(transaction, signature)
  return { reference: keccak256(bytes), bytes }
}
