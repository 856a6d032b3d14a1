import { readMigrations } from '@market/database/migrations'
import { expect, test } from 'vitest'
import { nextState, TRANSITIONS, type VenueTransferAction, type VenueTransferState } from './states.ts'

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The first group of the pattern in the newest migration that has it. */
const inMigrations = (pattern: RegExp): string =>
  readMigrations()
    .map(({ sql }) => pattern.exec(sql)?.[1])
    .findLast((text) => text !== undefined) ?? ''

test('venue_transfers_transition: the trigger allows exactly the changes of states.ts', () => {
  const allowed = inMigrations(
    /function check_venue_transfer\(\)[\s\S]*?old\.state <> new\.state and \(old\.state, new\.state\) not in \(([\s\S]*?)\n *\) then/,
  )
  const pairs = [...allowed.matchAll(/\('([^)]*)'\)/g)].map(([, pair]) =>
    (pair ?? '').split("', '").join(' '),
  )
  const expected = Object.entries(TRANSITIONS as Table).flatMap(([from, next]) =>
    Object.values(next).map((to) => `${from} ${to}`),
  )
  expect(pairs.toSorted()).toEqual([...new Set(expected)].toSorted())
  const states = inMigrations(/create table venue_transfers \([\s\S]*?state in \(([^)]*)\)/)
  expect([...states.matchAll(/'(\w+)'/g)].map(([, state]) => state).toSorted()).toEqual(
    Object.keys(TRANSITIONS).toSorted(),
  )
})

const STATES = Object.keys(TRANSITIONS) as VenueTransferState[]
const ACTIONS = [...new Set(Object.values(TRANSITIONS as Table).flatMap((next) => Object.keys(next)))]
const CELLS = STATES.flatMap((state) => ACTIONS.map((action) => [state, action] as const))

test.each(CELLS)('nextState: %s %s is what the table says, or a bug of the caller', (state, action) => {
  const to = (TRANSITIONS as Table)[state]?.[action]
  const next = () => nextState({ id: 'emv_1', state }, action as VenueTransferAction)
  if (to === undefined) expect(next).toThrow(`emv_1 is ${state}: cannot ${action}`)
  else expect(next()).toBe(to)
})
