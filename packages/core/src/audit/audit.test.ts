import { rotateKeys, testKeys } from '@market/testing/keys'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { record } from './record.ts'
import { verifyAudit } from './verify-audit.ts'

type TestDatabase = Awaited<ReturnType<typeof testDatabase>>

const keys = testKeys()

describe('audit log', () => {
  let database: TestDatabase
  let ctx: ReturnType<typeof marketContext>
  beforeAll(async () => {
    database = await testDatabase({ maxConnections: 20 })
  })
  afterAll(() => database.stop())

  /** Tampering by an owner of the database, who can disable the trigger. */
  const asSuperuser = async (statement: string) => {
    await sql`alter table audit_log disable trigger audit_log_append_only`.execute(database.db)
    await sql.raw(statement).execute(database.db)
    await sql`alter table audit_log enable trigger audit_log_append_only`.execute(database.db)
  }

  beforeEach(async () => {
    await asSuperuser('truncate audit_log')
    await sql`update audit_head set seq = 0, seal = decode(repeat('00', 32), 'hex')`.execute(database.db)
    ctx = marketContext({ db: database.db, actor: { kind: 'admin_key', name: 'ops' }, keys })
  })

  const write = (act: string, details: Record<string, unknown> = {}) =>
    ctx.transact((tx) => record(ctx, tx, { act, subject: 'thing', details }))

  const writeSome = async (count: number) => {
    for (let n = 1; n <= count; n++) await write(`act.${n}`, { n, nested: { z: 1, a: [1, 'two', null] } })
  }

  test('verifyAudit: an empty log and an intact log are valid', async () => {
    expect(await verifyAudit(ctx)).toBeUndefined()
    await writeSome(3)
    expect(await verifyAudit(ctx)).toBeUndefined()
    const rows = await database.db
      .selectFrom('audit_log')
      .select(['seq', 'actor', 'act'])
      .orderBy('seq')
      .execute()
    expect(rows.map((row) => row.seq)).toEqual([1n, 2n, 3n])
    expect(rows[0]).toMatchObject({ actor: 'admin_key:ops', act: 'act.1' })
  })

  test('record: names the credential of the actor, and none of a part of the marketplace', async () => {
    const credential = { kind: 'oauth_token', id: '3f9a01c27be4', grantId: 'g1', program: 'c1' } as const
    const user = { kind: 'user', userId: 'u', admin: false, credential } as const
    await ctx.transact((tx) => record({ ...ctx, actor: user }, tx, { act: 'a', subject: 'thing' }))
    const sweep = { kind: 'system', name: 'sweep' } as const
    await ctx.transact((tx) => record({ ...ctx, actor: sweep }, tx, { act: 'b', subject: 'thing' }))
    const rows = await database.db.selectFrom('audit_log').select('credential').orderBy('seq').execute()
    expect(rows.map((row) => row.credential)).toEqual([
      { kind: 'oauth_token', id: '3f9a01c27be4', grant_id: 'g1', program: 'c1' },
      null,
    ])
    expect(await verifyAudit(ctx)).toBeUndefined()
  })

  test.each([
    `update audit_log set actor = 'somebody' where seq = 3`,
    `update audit_log set credential = '{}' where seq = 3`,
    `update audit_log set act = 'act.x' where seq = 3`,
    `update audit_log set subject = 'other' where seq = 3`,
    `update audit_log set request_id = 'other' where seq = 3`,
    `update audit_log set at = at + interval '1 millisecond' where seq = 3`,
    `update audit_log set details = details || '{"n": 30}' where seq = 3`,
    `update audit_log set seal = sha256(seal) where seq = 3`,
    `delete from audit_log where seq = 3`,
    `update audit_log set seq = case seq when 3 then 4 else 3 end, seal = seal where seq in (3, 4)`,
  ])('verifyAudit: detects at row 3: %s', async (statement) => {
    await writeSome(5)
    await asSuperuser(
      statement.includes('case')
        ? `alter table audit_log drop constraint audit_log_pkey; ${statement};
           alter table audit_log add constraint audit_log_pkey primary key (seq)`
        : statement,
    )
    expect(await verifyAudit(ctx)).toEqual({ brokenAt: 3n })
  })

  test('verifyAudit: entries of a former key are valid while it is configured, and only with an audit key', async () => {
    const { both, newOnly } = rotateKeys(keys, 'AUDIT_KEYS')
    await writeSome(2)
    // Processes are restarted one by one, so entries of both keys can alternate.
    await ctx.transact((tx) => record({ ...ctx, vault: both.vault }, tx, { act: 'new', subject: 'thing' }))
    await write('old')
    expect(await verifyAudit({ ...ctx, vault: both.vault })).toBeUndefined()
    expect(await verifyAudit({ ...ctx, vault: newOnly.vault })).toEqual({ brokenAt: 1n })
    const otherPurposes = { ...testKeys().both, AUDIT_KEYS: keys.both.AUDIT_KEYS }
    expect(await verifyAudit({ ...ctx, vault: testKeys({ ...keys, both: otherPurposes }).vault })).toEqual({
      brokenAt: 3n,
    })
  })

  test('verifyAudit: detects deleted rows at the end (asvs V16.2)', async () => {
    await writeSome(5)
    await asSuperuser('delete from audit_log where seq > 3')
    expect(await verifyAudit(ctx)).toEqual({ brokenAt: 4n })
    await asSuperuser('truncate audit_log')
    expect(await verifyAudit(ctx)).toEqual({ brokenAt: 1n })
  })

  test('verifyAudit: detects an inserted row', async () => {
    await writeSome(2)
    await asSuperuser(
      `insert into audit_log select 3, at, actor, credential, act, subject, request_id, details, seal from audit_log where seq = 2`,
    )
    expect(await verifyAudit(ctx)).toEqual({ brokenAt: 3n })
  })

  test('verifyAudit: detects a head that was set to an older row', async () => {
    await writeSome(3)
    await sql`update audit_head set seq = 2`.execute(database.db)
    expect(await verifyAudit(ctx)).toBeDefined()
  })

  test.each(['update audit_log set act = act', 'delete from audit_log', 'truncate audit_log'])(
    'the database rejects: %s',
    async (statement) => {
      await writeSome(1)
      await expect(sql.raw(statement).execute(database.db)).rejects.toMatchObject({ code: '23001' })
    },
  )

  test('record: twenty concurrent entries form one chain', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(`act.${n}`)))
    const rows = await database.db.selectFrom('audit_log').select('seq').orderBy('seq').execute()
    expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: 20 }, (_, n) => BigInt(n + 1)))
    expect(await verifyAudit(ctx)).toBeUndefined()
  })

  test('verifyAudit: reports nothing while entries are written', async () => {
    const writing = Promise.all(Array.from({ length: 40 }, (_, n) => write(`act.${n}`)))
    for (let n = 0; n < 40; n++) expect(await verifyAudit(ctx)).toBeUndefined()
    await writing
    expect(await verifyAudit(ctx)).toBeUndefined()
  })

  test('record: an entry of a rolled-back transaction does not break the chain', async () => {
    const failing = ctx.transact(async (tx) => {
      await record(ctx, tx, { act: 'lost', subject: 'thing' })
      throw new Error('after the record')
    })
    await expect(failing).rejects.toThrow('after the record')
    await write('kept')
    expect(await verifyAudit(ctx)).toBeUndefined()
  })

  test('verifyAudit: any JSON details are valid after a round trip through Postgres', async () => {
    await write('odd', {
      missing: undefined,
      at: new Date(0),
      big: 1e21,
      small: 1e-7,
      zero: -0,
      text: 'ä "\\ 😀',
    })
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
    const details = fc.dictionary(
      text,
      fc.oneof(text, fc.integer(), fc.double({ noNaN: true }), fc.boolean()),
    )
    await fc.assert(
      fc.asyncProperty(details, (value) => write('any', value)),
      { numRuns: 50 },
    )
    expect(await verifyAudit(ctx)).toBeUndefined()
  })
})
