import { ApiError } from '@market/kernel/api-error'

/** The whole life of an order: state → what may happen → the state it leads to. */
export const TRANSITIONS = {
  pending_quote: { quote: 'quoted', cancel: 'cancelled' },
  quoted: { accept: 'accepted', pay: 'paid', expire: 'pending_quote', cancel: 'cancelled' },
  accepted: { pay: 'paid', expire: 'pending_quote', lapse: 'quoted', cancel: 'cancelled' },
  paid: {
    start: 'in_progress',
    deliver: 'delivered',
    cancel: 'cancelled',
    overdue: 'cancelled',
    undo: 'accepted',
  },
  in_progress: { deliver: 'delivered', cancel: 'cancelled', overdue: 'cancelled', undo: 'accepted' },
  delivered: {
    deliver: 'delivered',
    approve: 'completed',
    release: 'completed',
    revision: 'revision_requested',
    dispute: 'disputed',
    undo: 'accepted',
  },
  revision_requested: {
    deliver: 'delivered',
    decline_revision: 'delivered',
    cancel: 'cancelled',
    overdue: 'cancelled',
    undo: 'accepted',
  },
  disputed: {
    deliver: 'delivered',
    approve: 'completed',
    refund: 'cancelled',
    award: 'completed',
    reverse: 'cancelled',
    undo: 'accepted',
  },
  completed: { contest: 'disputed', undo: 'accepted' },
  cancelled: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

type Table = typeof TRANSITIONS
type KeyOf<T> = T extends unknown ? keyof T : never

export type Status = keyof Table
export type Action = KeyOf<Table[Status]>
/** The states an action may start from: Before<'pay'> is 'quoted' | 'accepted'. */
export type Before<A extends Action> = { [S in Status]: A extends keyof Table[S] ? S : never }[Status]

/** What somebody is to an order. The clock moves what nobody moved or somebody proved; the arbiter ends a dispute. */
export type Role = 'buyer' | 'provider' | 'owner' | 'arbiter' | 'clock'

/** Who may do what. An agent's owner does what the agent does. */
export const ACTORS = {
  quote: ['provider', 'owner'],
  accept: ['buyer'],
  pay: ['buyer'],
  start: ['provider', 'owner'],
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
  overdue: ['clock'],
  expire: ['clock'],
  lapse: ['clock'],
  undo: ['clock'],
  contest: ['clock'],
} as const satisfies Record<Action, readonly Role[]>

/** Whose move it is, in words: an act by the wrong party is not theirs to do, whatever the state. */
export function allowRole(role: Role, action: Action): void {
  const actors: readonly Role[] = ACTORS[action]
  if (actors.includes(role)) return
  throw new ApiError('forbidden', `Only the ${actors.join(' or ')} may ${wordsOf(action)} this order`, {
    code: 'not_your_act',
  })
}

/** Narrows the order to the states the action starts from, or rejects. */
export function allow<T extends { status: Status }, A extends Action>(
  order: T,
  action: A,
): asserts order is Extract<T, { status: Before<A> }> {
  if (Object.hasOwn(TRANSITIONS[order.status], action)) return
  throw new ApiError('invalid', `Cannot ${wordsOf(action)} an order that is ${order.status}`, {
    code: 'illegal_transition',
  })
}

const WORDS: Partial<Record<Action, string>> = {
  revision: 'ask for a revision of',
  decline_revision: 'decline a revision of',
}

const wordsOf = (action: Action): string => WORDS[action] ?? action
