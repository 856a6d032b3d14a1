import { z } from 'zod'
import { operation, READ_BY_OPERATORS, WRITE_BY_OPERATORS } from '../define.ts'
import { Approval, ApprovalId, NewApproval, Reason } from '../schemas/approval.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'

export const createApproval = operation({
  id: 'createApproval',
  ...WRITE_BY_OPERATORS,
  position: 150,
  method: 'POST',
  path: '/api/admin/approvals',
  summary: 'Propose what needs two operators',
  description:
    'Nothing moves until another operator approves the proposal within 24 hours. The agent’s owner, the buyer or the payer is notified.',
  input: NewApproval,
  output: Approval,
  status: 201,
  errors: {
    403: ['own_case'],
    404: ['not_found', 'order_not_found', 'creator_fee_not_found'],
    409: [
      'creator_fee_reversed',
      'below_minimum',
      'fees_too_low',
      'not_our_wallet',
      'treasury_too_low',
      'no_cold_address',
    ],
    503: ['wallets_unavailable'],
  },
})

export const listApprovals = operation({
  id: 'listApprovals',
  ...READ_BY_OPERATORS,
  position: 160,
  method: 'GET',
  path: '/api/admin/approvals',
  summary: 'List approvals',
  description: 'Newest first. Without `state`, lists those that can still be approved.',
  input: z.strictObject({ state: z.enum(['pending', 'all']).default('pending'), ...pageFields }),
  output: z.array(Approval),
  beside: NextCursor,
})

export const approveApproval = operation({
  id: 'approveApproval',
  ...WRITE_BY_OPERATORS,
  position: 170,
  method: 'POST',
  path: '/api/admin/approvals/{approval_id}/approve',
  summary: 'Approve a proposal',
  description:
    'Executes it at once. The proposer cannot approve it. When it cannot be executed, nothing changes and it stays pending.',
  input: z.strictObject({ approval_id: ApprovalId }),
  output: Approval,
  errors: {
    403: ['own_case', 'second_operator_required'],
    404: ['not_found'],
    409: [
      'approval_decided',
      'creator_fee_reversed',
      'below_minimum',
      'fees_too_low',
      'treasury_too_low',
      'no_cold_address',
      'not_our_wallet',
      'authorization_alive',
    ],
  },
})

export const rejectApproval = operation({
  id: 'rejectApproval',
  ...WRITE_BY_OPERATORS,
  position: 180,
  method: 'POST',
  path: '/api/admin/approvals/{approval_id}/reject',
  summary: 'Reject a proposal',
  description: 'The proposer withdraws a proposal in the same way.',
  input: z.strictObject({ approval_id: ApprovalId, reason: Reason }),
  output: Approval,
  errors: { 404: ['not_found'], 409: ['approval_decided'] },
})
