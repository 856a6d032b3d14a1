import { assert } from '@market/kernel/assert'
import {
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedEIP1559,
} from 'viem'
import type { CallToSign } from './sign-call.ts'

/** Decodes a call that this application signed, and recovers the signing account. */
export const readCall = async (bytes: string): Promise<CallToSign & { readonly from: string }> => {
  const { type, chainId, to, data, gas, nonce, ...fees } = parseTransaction(bytes as Hex)
  assert(
    type === 'eip1559' && to && data && gas,
    'the transaction is an EIP-1559 call signed by this application',
  )
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = fees
  const from = await recoverTransactionAddress({
    serializedTransaction: bytes as TransactionSerializedEIP1559,
  })
  return {
    ...{ chainId, to, data, gas, nonce: BigInt(nonce ?? 0), from },
    fees: { maxFeePerGas, maxPriorityFeePerGas },
  }
}
