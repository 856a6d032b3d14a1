import { assert } from '@market/kernel/assert'

/**
 * status → action → next status. The api only requests; the worker does the rest. The trigger
 * `wallet_operations_transition` rejects every change that is not in this table.
 */
export const TRANSITIONS = {
  requested: { sign: 'signed', finish: 'done', fail: 'failed' },
  signed: { sign: 'signed', finish: 'done', fail: 'failed' },
  done: {},
  failed: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

type Table = typeof TRANSITIONS
type KeyOf<T> = T extends unknown ? keyof T : never

export type OperationStatus = keyof Table
export type OperationAction = KeyOf<Table[OperationStatus]>

/** An action that the table does not list is a fault of the program. */
export function nextStatus(
  { id, status }: { readonly id: string; readonly status: OperationStatus },
  action: OperationAction,
): OperationStatus {
  const row: Readonly<Partial<Record<OperationAction, OperationStatus>>> = TRANSITIONS[status]
  const next = Object.hasOwn(row, action) ? row[action] : undefined
  assert(next !== undefined, `${id} is ${status}: cannot ${action}`)
  return next
}

export const hasEnded = ({ status }: { readonly status: OperationStatus }): boolean =>
  status === 'done' || status === 'failed'
