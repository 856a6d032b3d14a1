import { expect, test } from 'vitest'
import {
  BOUNTY_ACTORS,
  BOUNTY_TRANSITIONS,
  type BountyAction,
  type BountyStatus,
  CLAIM_ACTORS,
  CLAIM_TRANSITIONS,
  nextStatus,
  rejectUnlessOpen,
} from './states.ts'

const STATUSES = Object.keys(BOUNTY_TRANSITIONS) as BountyStatus[]
const actionsIn = (table: Readonly<Record<string, object>>) =>
  [...new Set(Object.values(table).flatMap(Object.keys))].sort()

test('states: exactly the actions of the tables have roles that may take them', () => {
  expect(Object.keys(BOUNTY_ACTORS).sort()).toEqual(actionsIn(BOUNTY_TRANSITIONS))
  expect(Object.keys(CLAIM_ACTORS).sort()).toEqual(actionsIn(CLAIM_TRANSITIONS))
})

test.each(STATUSES)('nextStatus: a bounty with status %s takes only the actions of the table', (status) => {
  const next: Partial<Record<BountyAction, BountyStatus>> = BOUNTY_TRANSITIONS[status]
  for (const action of Object.keys(BOUNTY_ACTORS) as BountyAction[]) {
    const to = next[action]
    if (to === undefined) expect(() => nextStatus(status, action)).toThrow(`cannot ${action}`)
    else expect(nextStatus(status, action)).toBe(to)
  }
})

test.each(STATUSES)('rejectUnlessOpen: a bounty with status %s', (status) => {
  const check = () => rejectUnlessOpen({ status })
  if (status === 'open') expect(check).not.toThrow()
  else expect(check).toThrow(expect.objectContaining({ extra: { code: 'bounty_not_open' } }))
})
