import { assert } from '@market/kernel/assert'

/**
 * status → action → next status. The api only requests; the worker does the rest. The trigger
 * `wallet_transactions_transition` rejects every change that is not in this table.
 */
export const TRANSITIONS = {
  requested: { sign: 'signed', finish: 'done', fail: 'failed' },
  signed: { sign: 'signed', finish: 'done', fail: 'failed' },
  done: {},
  failed: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

type Table = typeof TRANSITIONS
type KeyOf<T> = T extends unknown ? keyof T : never

export type WalletTransactionStatus = keyof Table
export type WalletTransactionAction = KeyOf<Table[WalletTransactionStatus]>

/** An action that the table does not list is a fault of the program. */
export function nextStatus(
  { id, status }: { readonly id: string; readonly status: WalletTransactionStatus },
  action: WalletTransactionAction,
): WalletTransactionStatus {
  const row: Readonly<Partial<Record<WalletTransactionAction, WalletTransactionStatus>>> = TRANSITIONS[status]
  const next = Object.hasOwn(row, action) ? row[action] : undefined
  assert(next !== undefined, `${id} is ${status}: cannot ${action}`)
  return next
}

export const hasEnded = ({ status }: { readonly status: WalletTransactionStatus }): boolean =>
  status === 'done' || status === 'failed'
