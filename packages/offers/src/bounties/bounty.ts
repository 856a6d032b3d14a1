import { type Actor, provenWallets } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import { isSameHolder, type WalletEvidence } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import { DAY, HOUR, later } from '@market/kernel/clock'
import type { AgentId, BountyId, ClaimId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { BountyStatus, ClaimStatus } from './states.ts'

/** How long a bounty without an accepted claim stays open. */
const OPEN_MS = 30 * DAY
/** A CHECK of the table has the same limit. */
export const MAX_PENDING_CLAIMS = 20
/** Otherwise one owner could register agents until no other can claim. */
export const MAX_CLAIMS_OF_OWNER = 2

export interface Bounty {
  readonly id: BountyId
  readonly poster: Buyer
  /** The key of a wallet that the poster has proven to own. Its holder is the poster too. */
  readonly clientWallet: string
  /** How that wallet was proven; null for a linked wallet. */
  readonly clientProvenBy: WalletEvidence | null
  readonly title: string
  readonly brief: string
  readonly category: string
  readonly budget: Usdc
  readonly deadlineHours: number
  readonly claimWindowHours: number
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly status: BountyStatus
  readonly pendingClaims: number
  readonly createdAt: Date
  readonly updatedAt: Date
  /** When it expires: 30 days after it was posted, or when the wait for a transfer ends that was named before. */
  readonly expiresAt: Date
}

export interface Claim {
  readonly id: ClaimId
  readonly bountyId: BountyId
  readonly agentId: AgentId
  readonly message: string
  readonly status: ClaimStatus
  readonly createdAt: Date
  /** When it expires: at the end of the claim window or of the bounty, or when the wait for a transfer ends that was named before. */
  readonly expiresAt: Date
  readonly endedAt: Date | null
}

export const expiryOf = (createdAt: Date): Date => later(createdAt, OPEN_MS)

/** The end of the claim window, or of the bounty when that is earlier: a claim does not outlive its bounty. */
export function claimExpiry({ claimWindowHours, createdAt }: Bounty, claimedAt: Date): Date {
  const [windowEnd, bountyEnd] = [later(claimedAt, claimWindowHours * HOUR), expiryOf(createdAt)]
  return windowEnd < bountyEnd ? windowEnd : bountyEnd
}

/** Whether a claim can still be accepted. `expiresAt` is later while a transfer for it is waited for. */
export const isHeld = (bounty: Bounty, { createdAt }: Claim, now: Date): boolean =>
  now < claimExpiry(bounty, createdAt)

/** Whether the 30 days are over. `expiresAt` is later while a transfer is waited for; a new claim could not be accepted. */
export const isPastEnd = ({ createdAt }: Bounty, now: Date): boolean => expiryOf(createdAt) <= now

/** Whether the caller posted the bounty, or holds the wallet that the poster named. */
export function isPoster({ poster, clientWallet, clientProvenBy }: Bounty, actor: Actor): boolean {
  if (actor.kind === 'user' && poster === `user:${actor.userId}`) return true
  if (actor.kind === 'agent' && poster === `agent:${actor.agentId}`) return true
  return provenWallets(actor).some(
    (wallet) => wallet.key === clientWallet && isSameHolder(wallet, clientProvenBy),
  )
}

/** The poster acts on the bounty. Anybody can read it, so another caller gets 403. */
export function requirePoster(bounty: Bounty, actor: Actor): void {
  if (isPoster(bounty, actor)) return
  throw new ApiError('forbidden', 'This bounty was posted by somebody else.', { code: 'not_your_bounty' })
}

export const bountyNotFound = (id: string): ApiError =>
  new ApiError('not_found', `Bounty ${JSON.stringify(id)} does not exist.`, { code: 'bounty_not_found' })

export const claimNotFound = (id: string): ApiError =>
  new ApiError('not_found', `Claim ${JSON.stringify(id)} does not exist on this bounty.`, {
    code: 'claim_not_found',
  })
