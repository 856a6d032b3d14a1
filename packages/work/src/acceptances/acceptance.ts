import type { IncomingTransfer } from '@market/core/ports/chain'
import { ApiError } from '@market/kernel/api-error'
import type { BountyId, ClaimId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import type { NamedTransfer } from '@market/money/payments'
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
  /** As of the last check; null unless it is waited for and a block has it. */
  readonly confirmations: number | null
  readonly required: number | null
  readonly createdAt: Date
}

interface Request {
  readonly claim_id: ClaimId
  readonly proven_payers: readonly string[]
}

const STATUS = {
  waiting: 'waiting',
  confirmed: 'accepted',
  refunded: 'refunded',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
} as const satisfies Readonly<Record<NamedTransfer['status'], Acceptance['status']>>

/** An acceptance is a transfer that was named in its bounty. `orderId` is that of the bounty's order. */
export function acceptanceOf({ scope, request, ...named }: NamedTransfer, orderId?: OrderId): Acceptance {
  const { claim_id: claimId, proven_payers: provenPayers } = request as Request
  const status = STATUS[named.status]
  return {
    id: named.id as AcceptanceId,
    bountyId: scope as BountyId,
    claimId,
    network: named.network,
    reference: named.reference,
    provenPayers,
    status,
    orderId: status === 'accepted' ? (orderId ?? null) : null,
    confirmations: named.confirmations,
    required: named.required,
    createdAt: named.createdAt,
  }
}

export const storedOf = ({ bountyId, claimId, provenPayers }: Acceptance) => {
  const request: Request = { claim_id: claimId, proven_payers: provenPayers }
  return { scope: bountyId, request }
}

/** What a refunded transfer was named for. The transfer of the winner pays for the order. */
export const purposeOf = ({ id }: Pick<Acceptance, 'id'>) => ({ kind: 'bounty', id }) as const

/** The budget and 10 % on top. */
export const dueOf = ({ budget }: Pick<Bounty, 'budget'>): Usdc => addFee(budget).due

/** Whether a transfer that comes too late is refunded. `if_proven`: only when a wallet made it that the poster has proven to own. */
export type LateRefund = 'always' | 'if_proven' | 'never'

const UNUSED =
  'Your transfer was not used: accept another claim with it, or get it back by POST /api/unmatched-transfers/{id}/refund.'
const LATE: Readonly<Record<LateRefund, string>> = {
  always: 'Your transfer is refunded to the wallet that made it.',
  if_proven:
    'Your transfer is refunded when the wallet that signed this request made it. Otherwise it stays unused: get it back by POST /api/unmatched-transfers/{id}/refund.',
  never: UNUSED,
}

/** Why no claim of the bounty can be accepted any more, and what becomes of the transfer. */
export const bountyProblem = ({ status }: Bounty, refund: LateRefund): ApiError | undefined =>
  status === 'open' ? undefined : bountyNotOpen(status, LATE[refund])

/** Why this claim of an open bounty cannot be accepted with a transfer that was named at the time. */
export function claimProblem(bounty: Bounty, claim: Claim, namedAt: Date): ApiError | undefined {
  const status = claim.status === 'pending' && !isHeld(bounty, claim, namedAt) ? 'expired' : claim.status
  if (status === 'pending') return undefined
  return new ApiError('conflict', `This claim is ${status}. ${UNUSED}`, { code: 'claim_not_pending' })
}

/** A wallet that did not sign made the transfer: an API key does not decide about the money of its owner. */
export const isProvenPayer = ({ provenPayers }: Acceptance, { payer }: IncomingTransfer): boolean =>
  payer !== null && provenPayers.includes(payer)

/** Before a transfer is confirmed its payer is not known: it is one of the given wallets. */
export function lateRefund(
  acceptance: Acceptance,
  transfer: IncomingTransfer | undefined,
  payers: readonly string[],
): LateRefund {
  if (transfer !== undefined) return isProvenPayer(acceptance, transfer) ? 'always' : 'never'
  if (acceptance.provenPayers.length === 0) return 'never'
  return payers.every((payer) => acceptance.provenPayers.includes(payer)) ? 'always' : 'if_proven'
}
