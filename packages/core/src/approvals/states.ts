import { assert } from '@market/kernel/assert'

/** state → action → next state. The trigger `approvals_transition` rejects every other change. */
export const TRANSITIONS = {
  pending: { approve: 'approved', reject: 'rejected', expire: 'expired' },
  approved: {},
  rejected: {},
  expired: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type ApprovalState = keyof typeof TRANSITIONS
export type ApprovalAction = keyof (typeof TRANSITIONS)['pending']

/** The state that an action leads to. An action that the table does not list is a fault of the program. */
export function nextState(state: ApprovalState, action: ApprovalAction): ApprovalState {
  const row: Readonly<Partial<Record<ApprovalAction, ApprovalState>>> = TRANSITIONS[state]
  const next = row[action]
  assert(next !== undefined, `an approval that is ${state} cannot ${action}`)
  return next
}
