import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { brokenFileRules, crowdedFolders, workplaceWords } from './file-rules.ts'
import { readImports, unreached } from './imports.ts'
import { buildSampleProject, type SampleProject } from './sample-project.ts'
import { foreignReads, foreignWrites } from './table-writes.ts'
import { ACCOUNTS, AGENTS, VIOLATIONS } from './violations.ts'

let project: SampleProject
beforeAll(async () => {
  project = await buildSampleProject()
})
afterAll(() => project.remove())

async function brokenRules(): Promise<string[]> {
  const imports = await readImports(project.folder, ['apps', 'packages'])
  return [...new Set(imports.summary.violations.map(({ rule }) => rule.name))].toSorted()
}

describe('imports', () => {
  test('the sample project breaks no rule', async () => {
    expect(await brokenRules()).toEqual([])
  })

  test.each(VIOLATIONS)('a rule fails when $wrong', async ({ files, rules }) => {
    expect(await project.change(files, brokenRules)).toEqual(rules)
  })

  test('a file that nothing imports is reported, although it imports others', async () => {
    const check = async () => unreached(await readImports(project.folder, ['apps', 'packages']))
    const file = `${AGENTS}/forgotten.ts`
    const known = await check()
    expect(await project.change({ [file]: `import './store.ts'` }, check)).toEqual(
      [...known, file].toSorted(),
    )
  })

  test('a test may import adapters, test support and higher modules', async () => {
    const file = `${ACCOUNTS}/save-account.test.ts`
    const text = `import '@market/testing/postgres'\nimport '@market/platform/limiter'\nimport '../agents/index.ts'`
    expect(await project.change({ [file]: text }, brokenRules)).toEqual([])
  })
})

describe('writes', () => {
  const store = `${ACCOUNTS}/store.ts`
  const foreign = [`${store}: agents belongs to agents, not to accounts`]

  test.each([
    [`tx.insertInto('agents').values({})`],
    [`tx.updateTable('agents as a').set({})`],
    ['tx.deleteFrom("agents")'],
    ['sql`insert into agents (id) values (1)`'],
    ['sql`with gone as (select 1) UPDATE "agents" a SET name = 1`'],
    ['sql`delete from only public.agents`'],
    [`client.query('truncate table agents')`],
    [`const table = 'agents'\nsql\`delete from \${sql.table(table)}\``],
    [`const table = 'agents'\ntx.deleteFrom(table)`],
  ])("a write to another module's table is reported in %s", (source) => {
    expect(foreignWrites(store, source)).toEqual(foreign)
  })

  test('a transport, a handler and an app own no table', () => {
    for (const file of [
      'packages/http/src/rest.ts',
      'packages/handlers/src/agents.ts',
      'apps/api/src/build-app.ts',
    ])
      expect(foreignWrites(file, `tx.insertInto('users')`)).toEqual([
        `${file}: users belongs to accounts, not to no module`,
      ])
  })

  test('a write to a table that the file does not name is reported', () => {
    expect(foreignWrites(store, 'export const wipe = (t: never) => tx.deleteFrom(t)')).toEqual([
      `${store}: writes a table it does not name`,
    ])
  })

  test('a module that writes outside its store is reported', () => {
    const file = `${ACCOUNTS}/save-account.ts`
    expect(foreignWrites(file, `tx.insertInto('users')`)).toEqual([`${file}: only store.ts writes`])
  })

  test.each([
    [`tx.insertInto('users').values({})`],
    [`tx.selectFrom('agents').forUpdate()`],
    ['sql`select 1 from agents for update`'],
    ['sql`insert into users values (1) on conflict do update set bio = 1`'],
    ['// insert into agents\nexport {}'],
  ])('writes to its own table, reads and comments are allowed: %s', (source) => {
    expect(foreignWrites(store, source)).toEqual([])
  })
})

describe('reads', () => {
  const store = 'packages/offers/src/listings/store.ts'

  test.each([
    [`db.selectFrom('orders').selectAll()`],
    [`db.selectFrom('listings').innerJoin('orders as o', 'o.id', 'x')`],
    ['sql`select from orders where id = 1`'],
    ['sql`select 1 from listings join orders on true`'],
  ])("a read of another module's table is reported in %s", (source) => {
    expect(foreignReads(store, source)).toEqual([`${store}: only orders reads orders`])
  })

  test.each([
    ['packages/trade/src/x402/contest/store.ts', 'orders', 'orders'],
    ['packages/reserves/src/snapshots/leaves/store.ts', 'payouts', 'payouts'],
    ['packages/reserves/src/snapshots/leaves/store.ts', 'payments', 'transfers'],
  ])('%s: may use a fragment of %s, and may not name %s', (file, owner, table) => {
    const read = (from: string) => foreignReads(file, `sql\`select 1 from ${from} as one\``)
    expect(read(table)).toEqual([`${file}: only ${owner} reads ${table}`])
    expect(read(`\${fragment}`)).toEqual([])
  })

  test.each([
    [`db.selectFrom('listing_buyers')`],
    [`db.selectFrom('agents')`],
    ['// select from orders\nexport {}'],
  ])('reads of its own tables, of shared tables and comments are allowed: %s', (source) => {
    expect(foreignReads(store, source)).toEqual([])
  })
})

describe('file rules', () => {
  const file = `${AGENTS}/rename.ts`

  test.each([
    ['export default 1', 'has a default export'],
    ['const a = 1\nexport { a as default }', 'has a default export'],
    [`export * from './store.ts'`, 'exports everything instead of names'],
    [`export const url = process.env['URL']`, 'reads the environment'],
    [`import { env } from 'node:process'`, 'reads the environment'],
    ['const { env } = process', 'reads the environment'],
    ['export {}\n'.repeat(301), 'is longer than 300 lines'],
  ])('a broken rule is reported: %#', (source, sentence) => {
    expect(brokenFileRules(file, source)).toEqual([`${file} ${sentence}`])
  })

  test('settings may read the environment, and text about a rule does not break it', () => {
    expect(brokenFileRules('apps/api/src/config.ts', `export const url = process.env['URL']`)).toEqual([])
    expect(
      brokenFileRules(file, `/* export default */\n// process.env\nexport const text = 'export default'`),
    ).toEqual([])
  })

  test.each([
    [['/wo', 'rk/main/package.json']],
    [['https://registry.', 'npm', 'js.org/zod']],
    [['Co-Auth', 'ored-By: somebody']],
    [['as the previous ses', 'sion wrote']],
    [['see de', 'sign.md']],
  ])('words of the workplace are reported: %#', (pieces) => {
    expect(workplaceWords(pieces.join(''))).toHaveLength(1)
  })

  test('ordinary words are not reported', () => {
    expect(
      workplaceWords('a session signature; AI agents; docs/work/; ./root/; https://example.com/work/1'),
    ).toEqual([])
  })
})

test('a folder with 26 files is reported, and one with 25 and a folder inside it is not', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${folder}/file-${n}.ts`)
  expect(crowdedFolders([...files(AGENTS, 25), ...files(`${AGENTS}/naming`, 25)])).toEqual([])
  expect(crowdedFolders(files(AGENTS, 26))).toEqual([`${AGENTS} has 26 files, more than 25`])
})
