import { assert } from '@market/kernel/assert'

/**
 * state → action → next state. A deploy begins as `funding`, a recall as `withdrawing`. The trigger `venue_transfers_transition`
 * rejects every change that is not in this table.
 */
export const TRANSITIONS = {
  /** The payout to the wallet is on its way. */
  funding: { fund: 'approving', take_back: 'returning', fail: 'failed' },
  approving: { approve: 'depositing', take_back: 'returning' },
  depositing: { finish: 'done', take_back: 'returning', hold: 'held' },
  /** The money goes back from the wallet to the treasury. */
  returning: { return: 'returned', hold: 'held' },
  returned: { fail: 'failed' },
  /** An operator decides. What only could not be returned is tried again. */
  held: { retry: 'returning' },
  withdrawing: { withdraw: 'withdrawn', fail: 'failed', hold: 'held' },
  withdrawn: { finish: 'done' },
  done: {},
  failed: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

/** While a move is in one of these, the wallet does nothing else. */
export const USES_WALLET: readonly VenueTransferState[] = [
  'approving',
  'depositing',
  'returning',
  'withdrawing',
]

type Table = typeof TRANSITIONS
type KeyOf<T> = T extends unknown ? keyof T : never

export type VenueTransferState = keyof Table
export type VenueTransferAction = KeyOf<Table[VenueTransferState]>

/** An action that the table does not list is a fault of the program. */
export function nextState(
  { id, state }: { readonly id: string; readonly state: VenueTransferState },
  action: VenueTransferAction,
): VenueTransferState {
  const row: Readonly<Partial<Record<VenueTransferAction, VenueTransferState>>> = TRANSITIONS[state]
  const next = Object.hasOwn(row, action) ? row[action] : undefined
  assert(next !== undefined, `${id} is ${state}: cannot ${action}`)
  return next
}
