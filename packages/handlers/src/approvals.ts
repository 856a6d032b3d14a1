import type { ApprovalKind } from '@market/contract/schemas/approval'
import {
  type Approval,
  type ApprovalId,
  approve,
  listApprovals,
  propose,
  reject,
} from '@market/core/approvals'
import { parseProposal } from './approval-kinds.ts'
import { handler } from './handler.ts'

export const presentApproval = (approval: Approval) => ({
  id: approval.id,
  kind: approval.kind as ApprovalKind,
  payload: approval.payload as Record<string, unknown>,
  subject: approval.subject,
  summary: approval.summary,
  reason: approval.reason,
  state: approval.state,
  proposer: approval.proposer,
  approver: approval.approver,
  rejected_by: approval.rejectedBy,
  created_at: approval.createdAt.toISOString(),
  expires_at: approval.expiresAt.toISOString(),
  decided_at: approval.decidedAt?.toISOString() ?? null,
})

export const approvalHandlers = {
  createApproval: handler('createApproval', {
    run: async (ctx, { reason, ...proposal }) => propose(ctx, parseProposal(ctx, proposal), reason),
    present: (approval) => ({ data: presentApproval(approval) }),
  }),

  listApprovals: handler('listApprovals', {
    run: (ctx, { state, limit, cursor }) => listApprovals(ctx, { all: state === 'all', limit, cursor }),
    present: ({ approvals, nextCursor }) => ({
      data: approvals.map(presentApproval),
      next_cursor: nextCursor,
    }),
  }),

  approveApproval: handler('approveApproval', {
    run: (ctx, input) => approve(ctx, input.approval_id as ApprovalId, (found) => parseProposal(ctx, found)),
    present: (approval) => ({ data: presentApproval(approval) }),
  }),

  rejectApproval: handler('rejectApproval', {
    run: (ctx, input) => reject(ctx, input.approval_id as ApprovalId, input.reason),
    present: (approval) => ({ data: presentApproval(approval) }),
  }),
}
