import { assert } from '@market/kernel/assert'

/**
 * state → action → next state. Only a worker performs the actions between `queued` and the end, except `withdraw`, which
 * belongs to the command that reverses the payment. `retry` is authorized by its callers (the agent, or an operator).
 * The trigger `payouts_transition` rejects every change of state that is not in this table.
 */
export const TRANSITIONS = {
  queued: {
    hold: 'held',
    authorize: 'nonce_assigned',
    recover: 'signed',
    finalize: 'final',
    fail: 'failed',
    withdraw: 'withdrawn',
  },
  held: {
    hold: 'held',
    authorize: 'nonce_assigned',
    recover: 'signed',
    finalize: 'final',
    fail: 'failed',
    withdraw: 'withdrawn',
  },
  nonce_assigned: { hold: 'held', sign: 'signed', recover: 'signed', finalize: 'final' },
  signed: {
    sign: 'signed',
    recover: 'signed',
    record_broadcast: 'signed',
    suspect_nonce: 'signed',
    suspend: 'signed',
    release_nonce: 'queued',
    finalize: 'final',
    fail: 'failed',
  },
  final: {},
  failed: { retry: 'queued', withdraw: 'withdrawn' },
  withdrawn: { request: 'queued', request_without_address: 'failed' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

type Table = typeof TRANSITIONS
type KeyOf<T> = T extends unknown ? keyof T : never

/**
 * `nonce_assigned` means authorized: the payout counts against the daily cap and has its nonce on EVM. An unused nonce
 * would block all later payouts, so from here only a payout that nothing justifies is held (`hold`, or `suspend` when it
 * has signatures); it keeps its nonce. `withdrawn`: the payment behind it was reversed
 * before the payout was authorized.
 */
export type PayoutState = keyof Table
export type PayoutAction = KeyOf<Table[PayoutState]>

/** The state that an action leads to. An action that the table does not list is a fault of the program. */
export function nextState(
  { id, state }: { readonly id: string; readonly state: PayoutState },
  action: PayoutAction,
): PayoutState {
  const row: Readonly<Partial<Record<PayoutAction, PayoutState>>> = TRANSITIONS[state]
  const next = Object.hasOwn(row, action) ? row[action] : undefined
  assert(next !== undefined, `${id} is ${state}: cannot ${action}`)
  return next
}
