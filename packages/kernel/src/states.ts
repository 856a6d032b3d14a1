import { assert } from './assert.ts'

/** state → action → next state. */
export type TransitionTable<S extends string = string> = Readonly<Record<S, Readonly<Record<string, S>>>>

type KeyOf<T> = T extends unknown ? keyof T : never

export type StateOf<T> = keyof T & string
export type ActionOf<T> = KeyOf<T[keyof T]> & string

/** Checks by its type that each action of the table leads to one of its states. */
export const transitions = <const T extends TransitionTable<StateOf<T>>>(table: T): T => table

/** The state that an action leads to. An action that the table does not list is a fault of the program. */
export function nextState<T extends TransitionTable<StateOf<T>>>(
  table: T,
  { id, state }: { readonly id: string; readonly state: StateOf<T> },
  action: ActionOf<T>,
): StateOf<T> {
  const row: Readonly<Record<string, StateOf<T>>> = table[state]
  const next = Object.hasOwn(row, action) ? row[action] : undefined
  assert(next !== undefined, `${id} is ${state}: cannot ${action}`)
  return next
}
