import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { type ActionOf, nextState, type StateOf, transitions } from '@market/kernel/states'

/**
 * The transition table: status → action → next status. `saveOrder` and a CHECK of `order_steps` enforce it. Of an order
 * that is not disputed, an arbiter decides (`award`, `reverse`) only while its payment is contested.
 */
export const TRANSITIONS = transitions({
  pending_quote: { quote: 'quoted', cancel: 'cancelled' },
  quoted: { accept: 'accepted', pay: 'paid', expire: 'pending_quote', cancel: 'cancelled' },
  accepted: { pay: 'paid', expire: 'pending_quote', lapse: 'quoted', cancel: 'cancelled' },
  paid: {
    start: 'in_progress',
    deliver: 'delivered',
    cancel: 'cancelled',
    overdue: 'cancelled',
    undo: 'accepted',
    contest_payment: 'paid',
    confirm_payer: 'paid',
    restore_delivery: 'delivered',
  },
  in_progress: {
    deliver: 'delivered',
    finish: 'delivered',
    cancel: 'cancelled',
    overdue: 'cancelled',
    undo: 'accepted',
    contest_payment: 'in_progress',
    confirm_payer: 'in_progress',
  },
  delivered: {
    deliver: 'delivered',
    approve: 'completed',
    release: 'completed',
    revision: 'revision_requested',
    dispute: 'disputed',
    undo: 'accepted',
    contest_payment: 'delivered',
    confirm_payer: 'delivered',
    award: 'completed',
    reverse: 'cancelled',
    return_payment: 'cancelled',
  },
  revision_requested: {
    deliver: 'delivered',
    decline_revision: 'delivered',
    cancel: 'cancelled',
    overdue: 'cancelled',
    undo: 'accepted',
    contest_payment: 'revision_requested',
    confirm_payer: 'revision_requested',
    award: 'completed',
    reverse: 'cancelled',
  },
  disputed: {
    deliver: 'delivered',
    approve: 'completed',
    refund: 'cancelled',
    award: 'completed',
    reverse: 'cancelled',
    undo: 'accepted',
    contest_payment: 'disputed',
    confirm_payer: 'disputed',
    return_payment: 'cancelled',
  },
  completed: {
    undo: 'accepted',
    contest_payment: 'completed',
    confirm_payer: 'completed',
    award: 'completed',
    reverse: 'cancelled',
    return_payment: 'cancelled',
  },
  cancelled: {},
})

type Table = typeof TRANSITIONS

export type Status = StateOf<Table>
export type Action = ActionOf<Table>
/** The statuses from which an action is allowed: Before<'pay'> is 'quoted' | 'accepted'. */
export type Before<A extends Action> = { [S in Status]: A extends keyof Table[S] ? S : never }[Status]

/** The status to which an action leads: After<'pay'> is 'paid'. */
export type After<A extends Action> = {
  [S in Status]: A extends keyof Table[S] ? Table[S][A] : never
}[Status] &
  Status

/** The actor's relation to an order. The clock stands for the application itself: deadlines and reorganisations. */
export type OrderRole = 'buyer' | 'provider' | 'owner' | 'arbiter' | 'clock'

/** Which roles may take each action. An agent's owner may do what the agent may do. */
export const ACTORS = {
  quote: ['provider', 'owner'],
  accept: ['buyer'],
  pay: ['buyer'],
  start: ['provider', 'owner', 'clock'],
  deliver: ['provider', 'owner'],
  revision: ['buyer'],
  decline_revision: ['provider', 'owner'],
  dispute: ['buyer'],
  approve: ['buyer'],
  cancel: ['buyer', 'provider', 'owner'],
  refund: ['provider', 'owner'],
  award: ['arbiter'],
  reverse: ['arbiter'],
  release: ['clock'],
  finish: ['clock'],
  overdue: ['clock'],
  expire: ['clock'],
  lapse: ['clock'],
  undo: ['clock'],
  contest_payment: ['clock'],
  confirm_payer: ['buyer'],
  return_payment: ['buyer'],
  restore_delivery: ['clock'],
} as const satisfies Record<Action, readonly OrderRole[]>

/** How the actor of a step is named for each role: the part before the colon, as in `wallet:0xabc…`. */
export const ACTOR_KINDS = {
  buyer: ['user', 'wallet', 'agent'],
  provider: ['agent'],
  owner: ['user', 'wallet'],
  arbiter: ['user', 'admin_key'],
  clock: ['clock'],
} as const satisfies Record<OrderRole, readonly string[]>

/** Who did what to an order, and when. */
export interface Step {
  readonly action: Action
  readonly role: OrderRole
  readonly actor: string
  readonly at: Date
}

export const BY_CLOCK = { role: 'clock', actor: 'clock' } as const

/** Fails when the tables above do not allow the step: the caller has a bug, and nothing may be saved. */
export function assertStep(
  { id, status }: { readonly id: string; readonly status: Status },
  to: Status,
  { action, role, actor }: Omit<Step, 'at'>,
): void {
  const next = nextState(TRANSITIONS, { id, state: status }, action)
  assert(next === to, `${id} is ${status}: ${action} does not lead to ${to}`)
  const roles: readonly OrderRole[] = ACTORS[action]
  assert(roles.includes(role), `${action} is not an action of the ${role}`)
  const kinds: readonly string[] = ACTOR_KINDS[role]
  assert(kinds.includes(actor.split(':')[0] ?? ''), `${actor} cannot be the ${role} of an order`)
}

/** Rejects a role that may not take the action in any status. */
export function requireRole(role: OrderRole, action: Action): void {
  const actors: readonly OrderRole[] = ACTORS[action]
  if (actors.includes(role)) return
  const callers = actors.filter((actor) => actor !== 'clock')
  throw new ApiError('forbidden', `Only the ${callers.join(' or ')} can ${wordsOf(action)} this order.`, {
    code: 'not_your_act',
  })
}

/** Narrows the order to the statuses from which the action is allowed, or rejects. */
export function requireTransition<T extends { status: Status }, A extends Action>(
  order: T,
  action: A,
): asserts order is Extract<T, { status: Before<A> }> {
  if (!Object.hasOwn(TRANSITIONS[order.status], action)) throw illegalTransition(order, action)
}

export function illegalTransition({ status }: { status: Status }, action: Action): ApiError {
  const allowed = Object.keys(TRANSITIONS[status]).filter((name) => isCallable(name as Action))
  const next = allowed.length === 0 ? 'Nothing is allowed now' : `Allowed now: ${allowed.join(', ')}`
  return new ApiError('invalid', `Cannot ${wordsOf(action)} an order with status \`${status}\`. ${next}.`, {
    code: 'illegal_transition',
  })
}

/** These follow from the payer's signature for a purchase. */
const BY_PAYER: readonly Action[] = ['confirm_payer', 'return_payment']

/** Buyers, agents and owners call these; the others follow from deadlines, the chain or an arbiter. */
function isCallable(action: Action): boolean {
  const roles: readonly OrderRole[] = ACTORS[action]
  return !BY_PAYER.includes(action) && (roles.includes('buyer') || roles.includes('provider'))
}

const WORDS: Partial<Record<Action, string>> = {
  revision: 'request a revision of',
  decline_revision: 'decline a revision of',
}

const wordsOf = (action: Action): string => WORDS[action] ?? action
