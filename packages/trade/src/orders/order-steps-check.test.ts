import { readMigrations } from '@market/database/migrations'
import { expect, test } from 'vitest'
import { ACTOR_KINDS, ACTORS, TRANSITIONS } from './states.ts'

/** The rows of a CHECK `(…) in (('a', 'b'), …)` as the newest migration that has it writes them. */
function rowsOf(constraint: string): string[] {
  const definition = new RegExp(`constraint ${constraint} check \\(\\([^]*?\\) in \\(([^]*?)\\n *\\)\\)`)
  const body = readMigrations()
    .map(({ sql }) => definition.exec(sql)?.[1])
    .findLast((text) => text !== undefined)
  return [...(body ?? '').matchAll(/\('([^)]*)'\)/g)]
    .map(([, row]) => (row ?? '').split("', '").join(' '))
    .sort()
}

test('order_steps_transition: the CHECK allows exactly the transitions of states.ts', () => {
  const transitions = Object.entries(TRANSITIONS).flatMap(([from, next]) =>
    Object.entries(next).map(([action, to]) => `${from} ${action} ${to}`),
  )
  expect(rowsOf('order_steps_transition')).toEqual(transitions.sort())
})

test('order_steps_actor: the CHECK allows each action to exactly the kinds of actors of states.ts', () => {
  const actors = Object.entries(ACTORS).flatMap(([action, roles]) => {
    const kinds = new Set(roles.flatMap((role) => ACTOR_KINDS[role]))
    return [...kinds].map((kind) => `${action} ${kind}`)
  })
  expect(rowsOf('order_steps_actor')).toEqual(actors.sort())
})
