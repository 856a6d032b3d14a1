import { ApiError } from '@market/kernel/api-error'
import type { BountyId, ClaimId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import { type Bounty, bountyNotOpen, type Claim } from '@market/offers/bounties'

export type AcceptanceId = `bac_${string}`

/**
 * A transfer that the poster named to accept a claim. `waiting` until it is confirmed. Then it pays the order
 * (`accepted`), or is refunded because another one was first or the claim has ended. `failed`: it can never pay.
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

const REFUND = 'Your transfer is refunded to the wallet that made it.'

/** Why a claim can no longer be accepted, so that its transfer is refunded; undefined when it can be. */
export function refusalOf(bounty: Bounty, claim: Claim): ApiError | undefined {
  if (bounty.status !== 'open') return bountyNotOpen(bounty.status, REFUND)
  return claim.status === 'pending' ? undefined : claimEnded(claim.status)
}

export const claimEnded = (status: Exclude<Claim['status'], 'pending'>): ApiError =>
  new ApiError('conflict', `This claim is ${status}. ${REFUND}`, { code: 'claim_not_pending' })
