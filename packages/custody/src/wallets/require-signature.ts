import type { Agent } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { OwnerSignature } from './operation.ts'

/** The signature of the owner wallet over this request, which the worker verifies again. */
export function requireSignature(
  { ownerWallet }: Agent,
  signature: OwnerSignature | undefined,
): OwnerSignature {
  if (signature !== undefined && signature.wallet === ownerWallet) return signature
  throw new ApiError(
    'unauthenticated',
    'This needs the signature of the owner wallet. Send wallet, wallet_sig and wallet_sig_ts.',
    { code: 'signature_missing' },
  )
}
