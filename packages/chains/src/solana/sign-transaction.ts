import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  address,
  appendTransactionMessageInstructions,
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

/** Signs the instructions as one transaction, of which the signer pays the fee. */
export const signTransaction = async (
  instructions: readonly Instruction[],
  signer: SolanaKeySigner,
  lifetime: Lifetime,
) => {
  const unsigned = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(address(signer.address), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  )
  const signature = await signer.signMessage(Uint8Array.from(unsigned.messageBytes))
  assert(isSignatureBytes(signature), 'the signature has 64 bytes')
  const transaction = { ...unsigned, signatures: { [address(signer.address)]: signature } }
  return {
    reference: getSignatureFromTransaction(transaction),
    bytes: getBase64EncodedWireTransaction(transaction),
    lastValidHeight: lifetime.lastValidBlockHeight,
  }
}
