/** One wrong import, and the rules that must name it. */
interface Plant {
  readonly wrong: string
  readonly rules: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

const plant = (wrong: string, rules: string | string[], file: string, text: string): Plant => ({
  wrong,
  rules: [rules].flat(),
  files: { [file]: text },
})

export const AGENTS = 'packages/market/src/agents'
export const ACCOUNTS = 'packages/market/src/accounts'

/** Each is put into the miniature alone. */
export const PLANTS: Plant[] = [
  plant(
    'a handler imports an edge',
    'handlers-looks-down-only',
    'packages/handlers/src/parse.ts',
    `import '@market/http/server'`,
  ),
  plant(
    'the database imports the market',
    'database-looks-down-only',
    'packages/database/src/tables.ts',
    `import '@market/market/agents'`,
  ),
  plant(
    'a type alone climbs',
    'database-looks-down-only',
    'packages/database/src/tables.ts',
    `import type { A } from '@market/market/agents'\nexport type B = A`,
  ),
  plant(
    'a lazy import climbs',
    'database-looks-down-only',
    'packages/database/src/tables.ts',
    `export const later = () => import('@market/market/agents')`,
  ),
  plant(
    'a module climbs the stairs',
    'accounts-looks-down-only',
    `${ACCOUNTS}/rename.ts`,
    `import '../agents/index.ts'`,
  ),
  {
    wrong: 'two files import each other',
    rules: ['no-circles'],
    files: {
      [`${AGENTS}/one.ts`]: `import type { Two } from './two.ts'\nexport type One = Two | 1`,
      [`${AGENTS}/two.ts`]: `import type { One } from './one.ts'\nexport type Two = One | 2`,
    },
  },
  plant(
    'a module skips a door',
    'through-the-door',
    `${AGENTS}/rename.ts`,
    `import '../accounts/save-account.ts'`,
  ),
  plant(
    'a handler skips a door by the name of the package',
    'every-import-leads-somewhere',
    'packages/handlers/src/parse.ts',
    `import '@market/market/agents/store'`,
  ),
  plant(
    'a handler skips a door by a path',
    ['call-a-package-by-its-name'],
    'packages/handlers/src/parse.ts',
    `import '../../market/src/agents/index.ts'`,
  ),
  plant(
    'a door opens another module',
    'a-door-opens-its-own-module',
    `${AGENTS}/index.ts`,
    `export { save } from '../accounts/index.ts'`,
  ),
  plant(
    'the context leans on a module',
    ['context-stands-under-the-stairs'],
    'packages/market/src/ports/extra.ts',
    `import '../accounts/index.ts'`,
  ),
  plant(
    'a port leans on the database',
    'ports-stand-on-kernel-alone',
    'packages/market/src/ports/extra.ts',
    `import '@market/database/tables'`,
  ),
  plant(
    'the market imports an adapter',
    'adapters-serve-apps-only',
    `${AGENTS}/rename.ts`,
    `import '@market/platform/limiter'`,
  ),
  plant(
    'an adapter imports a module',
    'adapters-see-ports-and-kernel-only',
    'packages/platform/src/vault.ts',
    `import '@market/market/agents'`,
  ),
  plant('the market knows a chain library', 'market-knows-no-wire', `${AGENTS}/rename.ts`, `import 'viem'`),
  plant('the market parses with zod', 'market-knows-no-wire', `${AGENTS}/rename.ts`, `import 'zod'`),
  plant('the market opens a socket', 'market-knows-no-wire', `${AGENTS}/rename.ts`, `import 'node:https'`),
  plant(
    'the market reads the contract',
    'contract-is-for-those-who-speak-it',
    `${AGENTS}/rename.ts`,
    `import '@market/contract/limits'`,
  ),
  plant('an edge writes SQL', 'edges-hold-no-sql', 'packages/http/src/rest.ts', `import 'kysely'`),
  plant(
    'an edge opens the database',
    'edges-hold-no-sql',
    'packages/mcp/src/tools.ts',
    `import '@market/database/transact'`,
  ),
  plant('a handler writes SQL', 'handlers-hold-no-sql', 'packages/handlers/src/parse.ts', `import 'pg'`),
  plant(
    'a handler knows the tables',
    'handlers-hold-no-sql',
    'packages/handlers/src/parse.ts',
    `import '@market/database/tables'`,
  ),
  plant(
    'an edge imports an edge',
    'edges-stand-apart',
    'packages/mcp/src/tools.ts',
    `import '@market/http/server'`,
  ),
  plant(
    'the kernel imports a package',
    'kernel-stands-on-nothing',
    'packages/kernel/src/money.ts',
    `import 'zod'`,
  ),
  plant(
    'the kernel imports the house',
    ['kernel-looks-down-only', 'kernel-stands-on-nothing'],
    'packages/kernel/src/money.ts',
    `import '@market/database/tables'`,
  ),
  plant(
    'the contract imports the house',
    'contract-imports-zod-only',
    'packages/contract/src/errors.ts',
    `import '@market/kernel/ids'`,
  ),
  plant(
    'the contract imports a built-in',
    'contract-imports-zod-only',
    'packages/contract/src/errors.ts',
    `import 'node:crypto'`,
  ),
  plant('one app imports another', 'apps-stand-apart', 'apps/api/src/house.ts', `import '@market/dev/main'`),
  plant(
    'a room uses what is for tests',
    'testing-serves-tests-and-dev-only',
    'packages/http/src/rest.ts',
    `import '@market/testing/postgres'`,
  ),
  {
    wrong: 'a room stands on a test',
    rules: ['nothing-stands-on-a-test'],
    files: {
      [`${AGENTS}/test-makers.ts`]: 'export const maker = 1',
      [`${AGENTS}/rename.ts`]: `import './test-makers.ts'`,
    },
  },
]
