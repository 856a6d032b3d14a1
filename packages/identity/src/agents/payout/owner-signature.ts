import type { Needs } from '@market/core/context'
import { isSameHolder } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import type { Agent } from '../agent.ts'

/** A signature of the owner wallet, which the worker verifies again. */
export interface OwnerSignature {
  readonly wallet: string
  readonly signature: string
  readonly signedAtMs: number
}

type OwnerWallet = Pick<Agent, 'ownerWallet' | 'ownerProvenBy' | 'ownerWalletEffectiveAt'>

/** Whether the owner wallet signed for this purpose, and its signatures count. May query nodes, so no transaction is open. */
export async function isSignedByOwner(
  ctx: Needs<'signatures' | 'clock'>,
  { ownerWallet, ownerProvenBy, ownerWalletEffectiveAt }: OwnerWallet,
  { signature, signedAtMs }: Omit<OwnerSignature, 'wallet'>,
  purpose: string,
): Promise<boolean> {
  const wallet = ctx.signatures.parseWallet(ownerWallet ?? '')
  if (wallet === undefined) return false
  // fix: owner-wallet-waits
  if (ownerWalletEffectiveAt !== null && ownerWalletEffectiveAt > ctx.clock.now()) return false
  const network = ownerProvenBy === null || ownerProvenBy === 'key' ? undefined : ownerProvenBy
  try {
    const provenBy = await ctx.signatures.verify(
      { wallet, signature, signedAtMs, ...(network !== undefined && { network }) },
      purpose,
      new Date(signedAtMs),
    )
    // Without recorded evidence it is not known on which network a contract owns the agent.
    return ownerProvenBy === null
      ? provenBy === 'key'
      : isSameHolder({ key: wallet.key, provenBy }, ownerProvenBy)
  } catch (error) {
    if (error instanceof ApiError && error.kind !== 'unavailable') return false
    throw error
  }
}
