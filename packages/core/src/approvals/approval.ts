import type { Tx } from '@market/database/transact'
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

/** What the audit log says of an approval that was executed. The approval is added to the details. */
export interface Effect {
  readonly act: string
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** What a kind of proposal means. `check` and `execute` run in the transaction of the request. */
export interface ApprovalRule<Ctx, Payload, About extends Concern = Concern> {
  /** What other systems show when it is proposed, which the summary says. Runs with no transaction open. */
  readonly observe?: (ctx: Ctx, payload: Payload) => Promise<string>
  /** Rejects what cannot be done now, and says what it is about. Runs when it is proposed, and again when it is approved. */
  readonly check: (ctx: Ctx, tx: Tx, payload: Payload) => Promise<About>
  readonly execute: (ctx: Ctx, tx: Tx, payload: Payload, approvalId: string) => Promise<Effect>
}

/** The state at a time: a proposal that nobody decided in time has expired, even before it is stored. */
export const stateAt = ({ state, expiresAt }: Approval, now: Date): ApprovalState =>
  state === 'pending' && expiresAt <= now ? 'expired' : state
