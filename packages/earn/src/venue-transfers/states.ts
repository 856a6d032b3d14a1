import { type ActionOf, type StateOf, transitions } from '@market/kernel/states'

/**
 * state → action → next state. A deploy begins as `funding`, a recall as `withdrawing`. The trigger `venue_transfers_transition`
 * rejects every change that is not in this table.
 */
export const TRANSITIONS = transitions({
  /** The payout to the wallet is on its way. */
  funding: { fund: 'approving', take_back: 'returning', fail: 'failed' },
  approving: { approve: 'depositing', take_back: 'returning' },
  depositing: { finish: 'done', take_back: 'returning', hold: 'held' },
  /** The money goes back from the wallet to the treasury. */
  returning: { return: 'returned', hold: 'held' },
  returned: { fail: 'failed' },
  /** Two operators accept what really moved. What only could not be returned is tried again. */
  held: { retry: 'returning', accept_deposit: 'done', accept_recall: 'withdrawn' },
  withdrawing: { withdraw: 'withdrawn', fail: 'failed', hold: 'held' },
  withdrawn: { finish: 'done' },
  done: {},
  failed: {},
})

/** While a venue transfer is in one of these, the wallet does nothing else. */
export const USES_WALLET: readonly VenueTransferState[] = [
  'approving',
  'depositing',
  'returning',
  'withdrawing',
]

export type VenueTransferState = StateOf<typeof TRANSITIONS>
export type VenueTransferAction = ActionOf<typeof TRANSITIONS>
