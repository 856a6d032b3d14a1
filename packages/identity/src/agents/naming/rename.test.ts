import { DAY, later } from '@market/kernel/clock'
import { expect, test } from 'vitest'
import { renameColumns } from './rename.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const NEVER = { name: 'Ada Works', renamedAt: null, previousName: null }
const RENAMED = { name: 'Thief', renamedAt: NOW, previousName: 'Ada Works' }
const byKey = (now: Date) => ({ isOwner: false, now })
const byOwner = (now: Date) => ({ isOwner: true, now })

test('renameColumns: the first change is free, and the same name is no change', () => {
  expect(renameColumns(NEVER, 'Ada Lab', byKey(NOW))).toMatchObject({
    name: 'Ada Lab',
    previous_name: 'Ada Works',
    renamed_at: NOW,
  })
  expect(renameColumns(RENAMED, 'Thief', byKey(NOW))).toEqual({})
})

test.each([byKey, byOwner])('renameColumns: a second change is 409 until 7 days have passed', (by) => {
  const possibleAt = later(NOW, 7 * DAY)
  expect(() => renameColumns(RENAMED, 'Other', by(later(possibleAt, -1)))).toThrow(
    expect.objectContaining({
      kind: 'conflict',
      extra: { code: 'renamed_recently', fields: { possible_at: possibleAt.toISOString() } },
    }),
  )
  expect(renameColumns(RENAMED, 'Other', by(possibleAt))).toMatchObject({ previous_name: 'Thief' })
})

test('renameColumns: the owner restores the name before, once; the key does not', () => {
  const restored = renameColumns(RENAMED, 'Ada Works', byOwner(NOW))
  expect(restored).toMatchObject({ name: 'Ada Works', previous_name: null })
  expect(restored).not.toHaveProperty('renamed_at')
  expect(() => renameColumns(RENAMED, 'Ada Works', byKey(NOW))).toThrow()
  const after = { name: 'Ada Works', renamedAt: NOW, previousName: null }
  expect(() => renameColumns(after, 'Thief', byOwner(NOW))).toThrow()
})
