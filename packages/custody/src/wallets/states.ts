import { type ActionOf, type StateOf, transitions } from '@market/kernel/states'

/**
 * status → action → next status. The api only requests; the worker does the rest. The trigger
 * `wallet_transactions_transition` rejects every change that is not in this table.
 */
export const TRANSITIONS = transitions({
  requested: { sign: 'signed', finish: 'done', fail: 'failed' },
  signed: { sign: 'signed', finish: 'done', fail: 'failed' },
  done: {},
  failed: {},
})

export type WalletTransactionStatus = StateOf<typeof TRANSITIONS>
export type WalletTransactionAction = ActionOf<typeof TRANSITIONS>

export const hasEnded = ({ status }: { readonly status: WalletTransactionStatus }): boolean =>
  status === 'done' || status === 'failed'
