import { type ActionOf, type StateOf, transitions } from '@market/kernel/states'

/**
 * state → action → next state. Only a worker performs the actions between `queued` and the end, except `withdraw`, which
 * belongs to the command that reverses the payment. `retry` is authorized by its callers (the agent, or an operator).
 * The trigger `payouts_transition` rejects every change of state that is not in this table.
 */
export const TRANSITIONS = transitions({
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
})

/**
 * `nonce_assigned` means authorized: the payout counts against the daily cap and has its nonce on EVM. An unused nonce
 * would block all later payouts, so from here only a payout that nothing justifies is held (`hold`, or `suspend` when it
 * has signatures); it keeps its nonce. `withdrawn`: the payment behind it was reversed
 * before the payout was authorized.
 */
export type PayoutState = StateOf<typeof TRANSITIONS>
export type PayoutAction = ActionOf<typeof TRANSITIONS>
