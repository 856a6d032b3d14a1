export type { Approval, ApprovalId, ApprovalRule, Concern } from './approval.ts'
export { approve, type Proposal, propose, reject } from './decide.ts'
export { countPending, listApprovals, type PendingApprovals } from './list-approvals.ts'
export { findApproved, findApprovedById } from './store.ts'
