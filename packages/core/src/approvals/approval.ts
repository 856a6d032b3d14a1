import type { Recipient } from '../notifications/index.ts'
import type { ApprovalState } from './states.ts'

export type ApprovalId = `apr_${string}`

/** One operator proposes what moves money elsewhere; it happens when another operator approves it in time. */
export interface Approval {
  readonly id: ApprovalId
  readonly kind: string
  /** As the schema of its kind returned it. */
  readonly payload: unknown
  readonly subject: string
  readonly summary: string
  readonly reason: string
  readonly proposer: string
  readonly approver: string | null
  readonly rejectedBy: string | null
  readonly state: ApprovalState
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly decidedAt: Date | null
}

/** What a proposal is about, and whom it concerns: the agent's owner, the buyer, the payer. */
export interface Concern {
  readonly subject: string
  readonly summary: string
  readonly recipients: readonly Recipient[]
}

/** The state at a time: a proposal that nobody decided in time has expired, even before it is stored. */
export const stateAt = ({ state, expiresAt }: Approval, now: Date): ApprovalState =>
  state === 'pending' && expiresAt <= now ? 'expired' : state
