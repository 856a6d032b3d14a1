import { assert } from '@market/kernel/assert'
import { type Hex, parseTransaction } from 'viem'
import type { CallToSign } from './sign-call.ts'

/** Decodes a call that this application signed. */
export const readCall = (bytes: string): CallToSign => {
  const { type, chainId, to, data, gas, nonce, ...fees } = parseTransaction(bytes as Hex)
  assert(
    type === 'eip1559' && to && data && gas,
    'the transaction is an EIP-1559 call signed by this application',
  )
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = fees
  return { chainId, to, data, gas, nonce: BigInt(nonce ?? 0), fees: { maxFeePerGas, maxPriorityFeePerGas } }
}
