import type { SignedTransfer } from '@market/core/ports/payout-sender'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  address,
  appendTransactionMessageInstructions,
  assertIsFullySignedTransaction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSignatureBytes,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'

export interface Lifetime {
  readonly blockhash: Blockhash
  readonly lastValidBlockHeight: bigint
}

const signatureOf = async (signer: SolanaKeySigner, message: Uint8Array) => {
  const signature = await signer.signMessage(message)
  assert(isSignatureBytes(signature), 'the signature has 64 bytes')
  return [address(signer.address), signature] as const
}

/** Signs the instructions as one transaction. The first signer pays the fee; `others` are signers of the instructions. */
export const signTransaction = async (
  instructions: readonly Instruction[],
  signer: SolanaKeySigner,
  lifetime: Lifetime,
  others: readonly SolanaKeySigner[] = [],
): Promise<SignedTransfer> => {
  const unsigned = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(address(signer.address), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  )
  const message = Uint8Array.from(unsigned.messageBytes)
  const signed = await Promise.all([signer, ...others].map((one) => signatureOf(one, message)))
  // The order of `unsigned.signatures` is that of the accounts in the message.
  const transaction = { ...unsigned, signatures: { ...unsigned.signatures, ...Object.fromEntries(signed) } }
  assertIsFullySignedTransaction(transaction)
  return {
    reference: getSignatureFromTransaction(transaction),
    bytes: getBase64EncodedWireTransaction(transaction),
    lastValidHeight: lifetime.lastValidBlockHeight,
    nonce: null,
    maxFeePerGas: null,
    maxPriorityFeePerGas: null,
  }
}
