import { assert } from '@market/kernel/assert'
import {
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedEIP1559,
} from 'viem'
import type { CallToSign } from './sign-call.ts'

/** The call in bytes that we signed ourselves, and by which account. */
export const readCall = async (bytes: string): Promise<CallToSign & { readonly from: string }> => {
  const { type, chainId, to, data, gas, nonce, ...fees } = parseTransaction(bytes as Hex)
  assert(type === 'eip1559' && to && data && gas, 'these are no bytes of ours')
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = fees
  const from = await recoverTransactionAddress({
    serializedTransaction: bytes as TransactionSerializedEIP1559,
  })
  return {
    ...{ chainId, to, data, gas, nonce: BigInt(nonce ?? 0), from },
    fees: { maxFeePerGas, maxPriorityFeePerGas },
  }
}
