import { readMigrations } from '@market/database/migrations'
import { expect, test } from 'vitest'
import {
  BOUNTY_TRANSITIONS,
  type BountyAction,
  type BountyStatus,
  CLAIM_TRANSITIONS,
  nextStatus,
} from './states.ts'

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The pairs of statuses that a trigger function allows, as the newest migration that creates it writes them. */
function allowedBy(trigger: string): string[] {
  const definition = new RegExp(
    `create (?:or replace )?function ${trigger}\\(\\)[^]*?not in \\(([^]*?)\\n *\\) then`,
  )
  const body = readMigrations()
    .map(({ sql }) => definition.exec(sql)?.[1])
    .findLast((text) => text !== undefined)
  return [...(body ?? '').matchAll(/\('([^)]*)'\)/g)]
    .map(([, pair]) => (pair ?? '').split("', '").join(' '))
    .sort()
}

/** The values of a CHECK `status in (…)` of a table. */
function statusesOf(table: string): string[] {
  const definition = new RegExp(
    `create table ${table} \\([^]*?status text not null check \\(status in \\(([^)]*)\\)`,
  )
  const [, list = ''] =
    readMigrations()
      .map(({ sql }) => definition.exec(sql))
      .find((found) => found !== null) ?? []
  return list.replaceAll("'", '').split(', ').sort()
}

const pairsOf = (table: Table): string[] =>
  [
    ...new Set(
      Object.entries(table).flatMap(([from, next]) => Object.values(next).map((to) => `${from} ${to}`)),
    ),
  ].sort()

test.each([
  ['check_bounty_transition', 'bounties', BOUNTY_TRANSITIONS],
  ['check_claim_transition', 'bounty_claims', CLAIM_TRANSITIONS],
] as const)('%s: the trigger allows exactly the transitions of states.ts', (trigger, name, table) => {
  expect(allowedBy(trigger)).toEqual(pairsOf(table))
  expect(statusesOf(name)).toEqual(Object.keys(table).sort())
})

const ACTIONS = [...new Set(Object.values(BOUNTY_TRANSITIONS).flatMap((next) => Object.keys(next)))]
const CELLS = Object.keys(BOUNTY_TRANSITIONS).flatMap((status) =>
  ACTIONS.map((action) => [status, action] as const),
)

test.each(CELLS)('nextStatus: %s %s is what the table says, or a bug of the caller', (status, action) => {
  const to = (BOUNTY_TRANSITIONS as Table)[status]?.[action]
  const next = () => nextStatus(status as BountyStatus, action as BountyAction)
  if (to === undefined) expect(next).toThrow(`a bounty with status ${status} cannot ${action}`)
  else expect(next()).toBe(to)
})
