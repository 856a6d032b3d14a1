import { CommitThenReject, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { HOUR, later } from '@market/kernel/clock'
import { record } from '../audit/index.ts'
import { type Needs, nameOf } from '../context.ts'
import { notify } from '../notifications/index.ts'
import { type Approval, type ApprovalId, type Concern, type Effect, stateAt } from './approval.ts'
import { insertApproval, lockApproval, saveDecision } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

const EXPIRES_MS = 24 * HOUR

/** A proposal with the rule of its kind (`ApprovalRule`). */
export interface Proposal {
  readonly kind: string
  readonly payload: unknown
  observe?(): Promise<string>
  check(tx: Tx): Promise<Concern>
  execute(tx: Tx, approval: Approval): Promise<Effect>
}

export async function propose(ctx: Ctx, proposal: Proposal, reason: string): Promise<Approval> {
  const observed = await proposal.observe?.()
  return ctx.transact(async (tx) => {
    const { kind, payload } = proposal
    const concern = await proposal.check(tx)
    const createdAt = ctx.clock.now()
    const approval = await insertApproval(tx, {
      id: ctx.ids.next('apr'),
      kind,
      payload,
      subject: concern.subject,
      summary: observed === undefined ? concern.summary : `${concern.summary}. ${observed}`,
      reason,
      proposer: nameOf(ctx.actor),
      approver: null,
      rejectedBy: null,
      state: 'pending',
      createdAt,
      expiresAt: later(createdAt, EXPIRES_MS),
      decidedAt: null,
    })
    await notifyConcerned(ctx, tx, concern, {
      kind: 'approval.proposed',
      title: 'An operator proposes a decision about your money',
      body: `Proposed: ${approval.summary}. It happens when another operator approves it before ${approval.expiresAt.toISOString()}. If you did not expect it, contact us now.`,
      data: { approval_id: approval.id, subject: approval.subject },
    })
    await recordDecision(ctx, tx, approval, 'proposed', reason)
    return approval
  })
}

/** Executes what another operator proposed. If it cannot be done, nothing changes and the proposal stays pending. */
export function approve(
  ctx: Ctx,
  id: ApprovalId,
  proposalOf: (approval: Approval) => Proposal,
): Promise<Approval> {
  return ctx.transact(async (tx) => {
    const pending = await lockPending(ctx, tx, id)
    if (pending instanceof CommitThenReject) return pending
    const approver = nameOf(ctx.actor)
    // fix: second-operator
    if (approver === pending.proposer)
      throw new ApiError('forbidden', 'You proposed this. Another operator must approve it.', {
        code: 'second_operator_required',
      })
    const proposal = proposalOf(pending)
    const concern = await proposal.check(tx)
    const { details, ...effect } = await proposal.execute(tx, pending)
    await record(ctx, tx, { ...effect, details: { approval: id, ...details } })
    const approved = await saveDecision(tx, pending, 'approve', ctx.clock.now(), { approver })
    await notifyConcerned(ctx, tx, concern, {
      kind: 'approval.approved',
      title: 'Two operators decided about your money',
      body: `Decided: ${approved.summary}. If you did not expect it, contact us.`,
      data: { approval_id: id, subject: approved.subject },
    })
    await recordDecision(ctx, tx, approved, 'approved')
    return approved
  })
}

/** Any operator may reject a proposal; the proposer withdraws it in this way. */
export function reject(ctx: Ctx, id: ApprovalId, reason: string): Promise<Approval> {
  return ctx.transact(async (tx) => {
    const pending = await lockPending(ctx, tx, id)
    if (pending instanceof CommitThenReject) return pending
    const by = { rejectedBy: nameOf(ctx.actor) }
    const rejected = await saveDecision(tx, pending, 'reject', ctx.clock.now(), by)
    await recordDecision(ctx, tx, rejected, 'rejected', reason)
    return rejected
  })
}

async function lockPending(ctx: Ctx, tx: Tx, id: ApprovalId): Promise<Approval | CommitThenReject> {
  const approval = await lockApproval(tx, id)
  if (approval === undefined) throw new ApiError('not_found', `There is no approval ${id}.`)
  const now = ctx.clock.now()
  if (approval.state !== 'pending') throw decidedBefore(approval)
  if (stateAt(approval, now) !== 'expired') return approval
  return new CommitThenReject(decidedBefore(await saveDecision(tx, approval, 'expire', now, {})))
}

const decidedBefore = ({ id, state }: Approval): ApiError =>
  new ApiError('conflict', `Approval ${id} is ${state}. Propose it again if it is still needed.`, {
    code: 'approval_decided',
  })

async function notifyConcerned(
  ctx: Ctx,
  tx: Tx,
  { recipients }: Concern,
  notification: Parameters<typeof notify>[3],
): Promise<void> {
  for (const recipient of new Set(recipients)) await notify(ctx, tx, recipient, notification)
}

const recordDecision = (
  ctx: Ctx,
  tx: Tx,
  { id, kind, payload, subject, proposer }: Approval,
  decision: 'proposed' | 'approved' | 'rejected',
  reason?: string,
): Promise<void> =>
  record(ctx, tx, {
    act: `approval.${decision}`,
    subject,
    details: { approval: id, kind, payload, proposer, ...(reason !== undefined && { reason }) },
  })
