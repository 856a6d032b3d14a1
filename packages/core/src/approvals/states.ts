import { type ActionOf, type StateOf, transitions } from '@market/kernel/states'

/** state → action → next state. The trigger `approvals_transition` rejects every other change. */
export const TRANSITIONS = transitions({
  pending: { approve: 'approved', reject: 'rejected', expire: 'expired' },
  approved: {},
  rejected: {},
  expired: {},
})

export type ApprovalState = StateOf<typeof TRANSITIONS>
export type ApprovalAction = ActionOf<typeof TRANSITIONS>
