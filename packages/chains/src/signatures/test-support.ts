import type { Signatures, WalletProof } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'

interface Signer {
  readonly address: string
  sign(message: string): Promise<string>
}

/** A valid proof. */
export const proofBy = async (
  signatures: Signatures,
  signer: Signer,
  signedAt: Date,
  purpose: string,
): Promise<WalletProof> => {
  const wallet = signatures.parseWallet(signer.address)
  if (wallet === undefined) throw new Error(`${signer.address} is not a wallet`)
  const signedAtMs = signedAt.getTime()
  return {
    wallet,
    signedAtMs,
    signature: await signer.sign(signatures.messageToSign(wallet, signedAtMs, purpose)),
  }
}

/** The ApiError that a call throws. Fails the test for any other outcome. */
export const apiError = async (call: Promise<unknown>): Promise<ApiError> => {
  const outcome = await call.then(
    () => new Error('the call succeeded'),
    (thrown: unknown) => thrown,
  )
  if (outcome instanceof ApiError) return outcome
  throw outcome
}

export const everyCharacterReplaced = (text: string): string[] =>
  Array.from(
    text,
    (character, at) => text.slice(0, at) + (character === 'x' ? 'y' : 'x') + text.slice(at + 1),
  )

export const everyCharacterDropped = (text: string): string[] =>
  Array.from(text, (_, at) => text.slice(0, at) + text.slice(at + 1))
