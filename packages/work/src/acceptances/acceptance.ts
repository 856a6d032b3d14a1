import type { IncomingTransfer } from '@market/core/ports/chain'
import { ApiError } from '@market/kernel/api-error'
import type { BountyId, ClaimId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import { type Bounty, bountyNotOpen, type Claim, isHeld } from '@market/offers/bounties'

export type AcceptanceId = `bac_${string}`

/**
 * A transfer that the poster named to accept a claim. `waiting` until it is confirmed. Then it pays the order
 * (`accepted`), or is refunded because another one was first or the bounty has ended. `failed`: it pays for nothing, and can
 * be named again.
 */
export interface Acceptance {
  readonly id: AcceptanceId
  readonly bountyId: BountyId
  readonly claimId: ClaimId
  readonly network: Network
  readonly reference: string
  /** Wallets that signed the request or are linked to the poster. A payment of another one waits before it is paid out. */
  readonly provenPayers: readonly string[]
  readonly status: 'waiting' | 'accepted' | 'refunded' | 'failed'
  readonly orderId: OrderId | null
  readonly createdAt: Date
}

/** What a refunded transfer was named for. The transfer of the winner pays for the order. */
export const purposeOf = ({ id }: Pick<Acceptance, 'id'>) => ({ kind: 'bounty', id }) as const

/** The budget and 10 % on top. */
export const dueOf = ({ budget }: Pick<Bounty, 'budget'>): Usdc => addFee(budget).due

const REFUNDED = 'Your transfer is refunded to the wallet that made it.'
const UNUSED =
  'Your transfer was not used: accept another claim with it, or get it back by POST /api/unmatched-transfers/{id}/refund.'

/** Why no claim of the bounty can be accepted any more. `isRefunded`: what becomes of the transfer. */
export const bountyProblem = ({ status }: Bounty, isRefunded: boolean): ApiError | undefined =>
  status === 'open' ? undefined : bountyNotOpen(status, isRefunded ? REFUNDED : UNUSED)

/** Why this claim of an open bounty cannot be accepted with a transfer that was named at the time. */
export function claimProblem(bounty: Bounty, claim: Claim, namedAt: Date): ApiError | undefined {
  const status = claim.status === 'pending' && !isHeld(bounty, claim, namedAt) ? 'expired' : claim.status
  if (status === 'pending') return undefined
  return new ApiError('conflict', `This claim is ${status}. ${UNUSED}`, { code: 'claim_not_pending' })
}

/** A wallet that did not sign made the transfer: an API key does not decide about the money of its owner. */
export const isProvenPayer = ({ provenPayers }: Acceptance, { payer }: IncomingTransfer): boolean =>
  payer !== null && provenPayers.includes(payer)
