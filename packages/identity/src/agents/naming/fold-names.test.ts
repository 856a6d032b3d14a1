import { randomBytes } from 'node:crypto'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'
import { readMigrations } from '@market/database/migrations'
import type { AgentId } from '@market/kernel/ids'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { asAdmin, databaseUrl } from '@market/testing/template-database'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { foldNames } from './fold-names.ts'

const idOf = (n: number): AgentId => `agt_${n}_${String(n).padStart(17, '0')}`

const walletOf = (n: number) => `0x${String(n).padStart(40, '0')}`

/** Names that the folding before migration 0042 held apart, by age. */
const OLD = ['ACME', 'ᎪᏟᎷᎬ', 'Pixel Smith', 'ꓮꓚꓟꓰ', 'Agent Market Support', 'Lone Wolf', 'Later Taken']

describe('foldNames: in a database with names from before migration 0042', () => {
  const database = `market_test_${randomBytes(6).toString('hex')}`
  let ctx: MarketContext
  let newcomer: AgentId
  let report: Awaited<ReturnType<typeof foldNames>>

  beforeAll(async () => {
    await asAdmin((admin) => admin.query(`create database ${database}`))
    const url = databaseUrl(database)
    const before = readMigrations().filter(({ name }) => name < '0042')
    await migrate(url, before)
    ctx = marketContext({ db: connect({ url, maxConnections: 3 }) })
    for (const [n, name] of OLD.entries())
      await sql`
        insert into agents (id, name, folded_name, slug, description, capabilities, ai_models, owner_wallet,
          api_key_fingerprint, api_key_sealed, api_key_hint, created_at, updated_at)
        values (${idOf(n)}, ${name}, ${name}, ${`old-${n}`}, 'An agent of a test.', '{}', '{}', ${walletOf(n)},
          decode(repeat(${`0${n}`}, 32), 'hex'), '', 'abcd', timestamptz '2025-01-01Z' + ${n} * interval '1 day',
          now())`.execute(ctx.db)
    await migrate(url)
    newcomer = (await makeAgent(ctx, { name: 'later taken' })).agent.id
    report = await foldNames(ctx)
  })
  afterAll(async () => {
    await ctx.db.destroy()
    await asAdmin((admin) => admin.query(`drop database if exists ${database} with (force)`))
  })

  const nameOf = async (id: AgentId) =>
    (await ctx.db.selectFrom('agents').select('name').where('id', '=', id).executeTakeFirstOrThrow()).name
  const suffixed = (name: string, id: AgentId) => `${name} ${id.slice(-8)}`

  test('the oldest agent keeps its name, and newer ones that look like it get a suffix', async () => {
    expect(await Promise.all(OLD.map((_, n) => nameOf(idOf(n))))).toEqual(
      OLD.map((name, n) => (n === 1 || n === 3 ? suffixed(name, idOf(n)) : name)),
    )
  })

  test('an agent that took the name between the migration and the folding gets a suffix', async () => {
    expect(await nameOf(newcomer)).toBe(suffixed('later taken', newcomer))
  })

  test('reports what it folded and renamed, and which names new agents could not have', () => {
    expect(report).toEqual({
      folded: OLD.length,
      renamed: [idOf(1), idOf(3), newcomer],
      notAllowed: [idOf(1), idOf(3), idOf(4)],
    })
  })

  test('notifies the owner of a renamed agent and records it', async () => {
    const told = await ctx.db.selectFrom('notifications').select(['recipient', 'kind']).execute()
    expect(told).toEqual([1, 3].map((n) => ({ recipient: `wallet:${walletOf(n)}`, kind: 'agent.name_lost' })))
    const audited = await ctx.db
      .selectFrom('audit_log')
      .select(['subject', 'actor'])
      .where('act', '=', 'agents.name_lost')
      .orderBy('seq')
      .execute()
    expect(audited).toEqual(
      [idOf(1), idOf(3), newcomer].map((subject) => ({ subject, actor: 'system:fold-names' })),
    )
  })

  test('an existing agent counts as seen at the migration, so no name becomes free by it', async () => {
    const { rows } = await sql<{ old: boolean }>`
      select bool_or(last_seen_at < now() - interval '1 hour') as old from agents
      where id <> ${newcomer}`.execute(ctx.db)
    expect(rows).toEqual([{ old: false }])
  })

  test('look-alikes of folded names are rejected, and a second run changes nothing', async () => {
    for (const name of ['acme', 'АСМЕ', 'PIXEL-SMITH', 'Lone VVolf'])
      await expect(makeAgent(ctx, { name })).rejects.toMatchObject({ kind: 'conflict' })
    expect(await foldNames(ctx)).toEqual({ folded: 0, renamed: [], notAllowed: [] })
  })
})
