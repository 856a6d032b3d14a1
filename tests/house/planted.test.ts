import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readArrows, unreached } from './arrows.ts'
import { badManners, strayWords } from './manners.ts'
import { buildMiniature, type Miniature } from './miniature.ts'
import { ACCOUNTS, AGENTS, PLANTS } from './plants.ts'
import { foreignWrites } from './writes.ts'

let house: Miniature
beforeAll(async () => {
  house = await buildMiniature()
})
afterAll(() => house.remove())

async function brokenRules(): Promise<string[]> {
  const arrows = await readArrows(house.folder, ['apps', 'packages'])
  return [...new Set(arrows.summary.violations.map(({ rule }) => rule.name))].toSorted()
}

describe('arrows', () => {
  test('the sound house breaks no rule', async () => {
    expect(await brokenRules()).toEqual([])
  })

  test.each(PLANTS)('it is named when $wrong', async ({ files, rules }) => {
    expect(await house.plant(files, brokenRules)).toEqual(rules)
  })

  test('a file that nobody reaches is named, though it imports others', async () => {
    const look = async () => unreached(await readArrows(house.folder, ['apps', 'packages']))
    const file = `${AGENTS}/forgotten.ts`
    const known = await look()
    expect(await house.plant({ [file]: `import './store.ts'` }, look)).toEqual([...known, file].toSorted())
  })

  test('a test may use adapters, what is for tests, and modules higher up', async () => {
    const file = `${ACCOUNTS}/save-account.test.ts`
    const text = `import '@market/testing/postgres'\nimport '@market/platform/limiter'\nimport '../agents/index.ts'`
    expect(await house.plant({ [file]: text }, brokenRules)).toEqual([])
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
  ])("another module's table is found in %s", (source) => {
    expect(foreignWrites(store, source)).toEqual(foreign)
  })

  test('an edge, a handler and an app own no table', () => {
    for (const file of [
      'packages/http/src/rest.ts',
      'packages/handlers/src/agents.ts',
      'apps/api/src/house.ts',
    ])
      expect(foreignWrites(file, `tx.insertInto('users')`)).toEqual([
        `${file}: users belongs to accounts, not to no module`,
      ])
  })

  test('a write whose table the file never names is found', () => {
    expect(foreignWrites(store, 'export const wipe = (t: never) => tx.deleteFrom(t)')).toEqual([
      `${store}: writes a table it does not name`,
    ])
  })

  test('a module that writes outside its store is found', () => {
    const file = `${ACCOUNTS}/save-account.ts`
    expect(foreignWrites(file, `tx.insertInto('users')`)).toEqual([`${file}: only store.ts writes`])
  })

  test.each([
    [`tx.insertInto('users').values({})`],
    [`tx.selectFrom('agents').forUpdate()`],
    ['sql`select 1 from agents for update`'],
    ['sql`insert into users values (1) on conflict do update set bio = 1`'],
    ['// insert into agents\nexport {}'],
  ])('its own table, reading and remarks are left alone: %s', (source) => {
    expect(foreignWrites(store, source)).toEqual([])
  })
})

describe('manners', () => {
  const file = `${AGENTS}/rename.ts`

  test.each([
    ['export default 1', 'has a default export'],
    ['const a = 1\nexport { a as default }', 'has a default export'],
    [`export * from './store.ts'`, 'exports everything instead of names'],
    [`export const url = process.env['URL']`, 'reads the environment'],
    [`import { env } from 'node:process'`, 'reads the environment'],
    ['const { env } = process', 'reads the environment'],
    ['export {}\n'.repeat(301), 'is longer than 300 lines'],
  ])('bad manners are found: %#', (source, sentence) => {
    expect(badManners(file, source)).toEqual([`${file} ${sentence}`])
  })

  test('settings may read the environment, and words about a rule do not break it', () => {
    expect(badManners('apps/api/src/config.ts', `export const url = process.env['URL']`)).toEqual([])
    expect(
      badManners(file, `/* export default */\n// process.env\nexport const text = 'export default'`),
    ).toEqual([])
  })

  test.each([
    [['/wo', 'rk/main/package.json']],
    [['https://registry.', 'npm', 'js.org/zod']],
    [['Co-Auth', 'ored-By: somebody']],
    [['as the previous ses', 'sion wrote']],
    [['see de', 'sign.md']],
  ])('words of the desk are found: %#', (pieces) => {
    expect(strayWords(pieces.join(''))).toHaveLength(1)
  })

  test('words of the trade are left alone', () => {
    expect(
      strayWords('a session signature; AI agents; docs/work/; ./root/; https://example.com/work/1'),
    ).toEqual([])
  })
})
