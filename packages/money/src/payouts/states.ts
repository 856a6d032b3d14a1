import { type ActionOf, type StateOf, transitions } from '@market/kernel/states'

/**
 * state → action → next state. Only a worker performs the actions between `queued` and the end, except `withdraw`, which
 * belongs to the command that reverses the payment. `retry` is authorized by its callers (the agent, or an operator).
 * The trigger `payouts_transition` rejects every change of state that is not in this table.
 */
export const TRANSITIONS = transitions({
  queued: {
    hold: 'held',
    sign: 'signed',
    recover: 'signed',
    finalize: 'final',
    fail: 'failed',
    withdraw: 'withdrawn',
  },
  held: {
    hold: 'held',
    sign: 'signed',
    recover: 'signed',
    finalize: 'final',
    fail: 'failed',
    withdraw: 'withdrawn',
  },
  signed: {
    sign: 'signed',
    recover: 'signed',
    record_broadcast: 'signed',
    suspend: 'signed',
    finalize: 'final',
    fail: 'failed',
  },
  final: {},
  failed: { retry: 'queued', withdraw: 'withdrawn' },
  withdrawn: { request: 'queued', request_without_address: 'failed' },
})

/**
 * `signed`: it counts against the caps, and may leave at any time. One that nothing justifies is suspended: it is not signed
 * again. `withdrawn`: the payment behind it was reversed before the payout was signed.
 */
export type PayoutState = StateOf<typeof TRANSITIONS>
export type PayoutAction = ActionOf<typeof TRANSITIONS>
