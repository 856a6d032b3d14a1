import type { Agent, OwnerSignature } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'

/** The signature of the owner wallet over this request, which the worker verifies again. */
export function requireSignature(
  { ownerWallet }: Agent,
  signature: OwnerSignature | undefined,
): OwnerSignature {
  if (signature !== undefined && signature.wallet === ownerWallet) return signature
  throw new ApiError(
    'forbidden',
    'The owner wallet of this agent must sign this. Send wallet, wallet_sig and wallet_sig_ts of it.',
    { code: 'owner_wallet_required' },
  )
}
