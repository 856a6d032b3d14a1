import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

type TestDatabase = Awaited<ReturnType<typeof testDatabase>>

describe('approvals', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.stop())

  let count = 0
  const AT = new Date('2026-03-01T12:00:00Z')
  const LATER = new Date('2026-03-02T12:00:00Z')

  const insert = async (fields: Record<string, unknown> = {}) => {
    count += 1
    const id = `apr_${count}`
    const row = {
      ...{ id, kind: 'redirect_payout', payload: '{}', subject: 'x', summary: 'y', reason: 'because' },
      ...{ proposer: 'user:a', created_at: AT, expires_at: LATER },
      ...fields,
    }
    await database.db.insertInto('approvals').values(row).execute()
    return id
  }

  const update = (id: string, fields: Record<string, unknown>) =>
    database.db.updateTable('approvals').set(fields).where('id', '=', id).execute()

  test('the database rejects an approval by the proposer', async () => {
    const id = await insert()
    const approval = { state: 'approved', decided_at: AT }
    await expect(update(id, { ...approval, approver: 'user:a' })).rejects.toMatchObject({
      constraint: 'approvals_two_people',
    })
    await update(id, { ...approval, approver: 'user:b' })
  })

  test('the database rejects an approval without an approver or after its time', async () => {
    const id = await insert()
    await expect(update(id, { state: 'approved', decided_at: AT })).rejects.toMatchObject({
      constraint: 'approvals_decided',
    })
    const late = { state: 'approved', approver: 'user:b', decided_at: LATER }
    await expect(update(id, late)).rejects.toMatchObject({ constraint: 'approvals_in_time' })
  })

  test.each([
    ['kind', 'withdraw_fees'],
    ['payload', '{"payee": "elsewhere"}'],
    ['proposer', 'user:c'],
    ['expires_at', new Date('2027-01-01T00:00:00Z')],
  ])('the database rejects a changed %s together with a decision', async (column, value) => {
    const id = await insert()
    const decision = { state: 'approved', approver: 'user:b', decided_at: AT }
    await expect(update(id, { ...decision, [column]: value })).rejects.toMatchObject({
      constraint: 'approvals_proposal',
    })
  })

  test('the database rejects every change of a decided approval', async () => {
    const id = await insert()
    await update(id, { state: 'rejected', rejected_by: 'user:b', decided_at: AT })
    for (const fields of [
      { state: 'pending', rejected_by: null, decided_at: null },
      { state: 'approved', approver: 'user:b', rejected_by: null },
    ])
      await expect(update(id, fields)).rejects.toMatchObject({ constraint: 'approvals_transition' })
  })
})
