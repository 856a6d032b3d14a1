/** One wrong import, and the rules that must report it. */
interface Violation {
  readonly wrong: string
  readonly rules: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

const violation = (wrong: string, rules: string | string[], file: string, text: string): Violation => ({
  wrong,
  rules: [rules].flat(),
  files: { [file]: text },
})

export const AGENTS = 'packages/identity/src/agents'
export const ACCOUNTS = 'packages/identity/src/accounts'

/** Each is put into the sample project alone. */
export const VIOLATIONS: Violation[] = [
  violation(
    'a handler imports a transport',
    'handlers-imports-lower-layers-only',
    'packages/handlers/src/parse.ts',
    `import '@market/http/server'`,
  ),
  violation(
    'the database imports the domain',
    'database-imports-lower-layers-only',
    'packages/database/src/tables.ts',
    `import '@market/identity/agents'`,
  ),
  violation(
    'only a type is imported from a higher layer',
    'database-imports-lower-layers-only',
    'packages/database/src/tables.ts',
    `import type { A } from '@market/identity/agents'\nexport type B = A`,
  ),
  violation(
    'a higher layer is imported lazily',
    'database-imports-lower-layers-only',
    'packages/database/src/tables.ts',
    `export const later = () => import('@market/identity/agents')`,
  ),
  violation(
    'a module imports one before it',
    'accounts-imports-lower-modules-only',
    `${ACCOUNTS}/rename.ts`,
    `import '../agents/index.ts'`,
  ),
  violation(
    'identity imports money',
    'identity-money-and-files-are-independent',
    `${AGENTS}/rename.ts`,
    `import '@market/money/ledger'`,
  ),
  violation(
    'money imports identity',
    'identity-money-and-files-are-independent',
    'packages/money/src/ledger/pay.ts',
    `import '@market/identity/agents'`,
  ),
  violation(
    'money imports trade',
    'identity-money-and-files-imports-lower-layers-only',
    'packages/money/src/ledger/pay.ts',
    `import '@market/trade/orders'`,
  ),
  violation(
    'trade imports work',
    'trade-imports-lower-layers-only',
    'packages/trade/src/orders/pay.ts',
    `import '@market/work/messages'`,
  ),
  violation(
    'files imports identity',
    'identity-money-and-files-are-independent',
    'packages/files/src/uploads/store-upload.ts',
    `import '@market/identity/agents'`,
  ),
  violation(
    'money imports files',
    'identity-money-and-files-are-independent',
    'packages/money/src/ledger/pay.ts',
    `import '@market/files/uploads'`,
  ),
  violation(
    'files imports trade',
    ['identity-money-and-files-imports-lower-layers-only', 'no-import-cycles'],
    'packages/files/src/uploads/store-upload.ts',
    `import '@market/trade/orders'`,
  ),
  violation(
    'files imports the client of the storage',
    'domain-imports-no-protocol-library',
    'packages/files/src/uploads/store-upload.ts',
    `import '@aws-sdk/client-s3'`,
  ),
  violation(
    'core imports identity',
    'core-imports-lower-layers-only',
    'packages/core/src/audit/find.ts',
    `import '@market/identity/agents'`,
  ),
  {
    wrong: 'two files import each other',
    rules: ['no-import-cycles'],
    files: {
      [`${AGENTS}/one.ts`]: `import type { Two } from './two.ts'\nexport type One = Two | 1`,
      [`${AGENTS}/two.ts`]: `import type { One } from './one.ts'\nexport type Two = One | 2`,
    },
  },
  violation(
    'a module imports a file of another module',
    'modules-are-imported-by-index',
    `${AGENTS}/rename.ts`,
    `import '../accounts/save-account.ts'`,
  ),
  violation(
    'a handler imports a file of a module by the name of the package',
    'every-import-resolves',
    'packages/handlers/src/parse.ts',
    `import '@market/identity/agents/store'`,
  ),
  violation(
    'a handler imports a module by its path',
    ['packages-are-imported-by-name'],
    'packages/handlers/src/parse.ts',
    `import '../../identity/src/agents/index.ts'`,
  ),
  violation(
    'an index exports another module',
    'index-exports-its-own-module',
    `${AGENTS}/index.ts`,
    `export { save } from '../accounts/index.ts'`,
  ),
  violation(
    'a port imports a module',
    ['context-and-ports-import-no-module'],
    'packages/core/src/ports/extra.ts',
    `import '../audit/index.ts'`,
  ),
  violation(
    'a port imports the database',
    'ports-import-kernel-only',
    'packages/core/src/ports/extra.ts',
    `import '@market/database/tables'`,
  ),
  violation(
    'the domain imports an adapter',
    'adapters-are-imported-by-apps-only',
    `${AGENTS}/rename.ts`,
    `import '@market/platform/limiter'`,
  ),
  violation(
    'an adapter imports a module',
    'adapters-import-ports-and-kernel-only',
    'packages/platform/src/vault.ts',
    `import '@market/identity/agents'`,
  ),
  violation(
    'the domain imports a chain library',
    'domain-imports-no-protocol-library',
    `${AGENTS}/rename.ts`,
    `import 'viem'`,
  ),
  violation(
    'the domain imports zod',
    'domain-imports-no-protocol-library',
    `${AGENTS}/rename.ts`,
    `import 'zod'`,
  ),
  violation(
    'the domain opens a socket',
    'domain-imports-no-protocol-library',
    `${AGENTS}/rename.ts`,
    `import 'node:https'`,
  ),
  violation(
    'the domain imports the contract',
    'contract-is-for-handlers-transports-and-clients',
    `${AGENTS}/rename.ts`,
    `import '@market/contract/limits'`,
  ),
  violation(
    'a transport writes SQL',
    'transports-contain-no-sql',
    'packages/http/src/rest.ts',
    `import 'kysely'`,
  ),
  violation(
    'a transport imports the database',
    'transports-contain-no-sql',
    'packages/mcp/src/tools.ts',
    `import '@market/database/transact'`,
  ),
  violation(
    'a handler writes SQL',
    'handlers-contain-no-sql',
    'packages/handlers/src/parse.ts',
    `import 'pg'`,
  ),
  violation(
    'a handler imports the tables',
    'handlers-contain-no-sql',
    'packages/handlers/src/parse.ts',
    `import '@market/database/tables'`,
  ),
  violation(
    'a transport imports a transport',
    'transports-are-independent',
    'packages/mcp/src/tools.ts',
    `import '@market/http/server'`,
  ),
  violation(
    'the kernel imports a package',
    'kernel-imports-nothing',
    'packages/kernel/src/money.ts',
    `import 'zod'`,
  ),
  violation(
    'the kernel imports a package of ours',
    ['kernel-imports-lower-layers-only', 'kernel-imports-nothing'],
    'packages/kernel/src/money.ts',
    `import '@market/database/tables'`,
  ),
  violation(
    'the contract imports a package of ours',
    'contract-imports-zod-only',
    'packages/contract/src/errors.ts',
    `import '@market/kernel/ids'`,
  ),
  violation(
    'the contract imports a built-in',
    'contract-imports-zod-only',
    'packages/contract/src/errors.ts',
    `import 'node:crypto'`,
  ),
  violation(
    'a client imports a package of the server',
    'clients-import-contract-only',
    'packages/mcp-stdio/src/main.ts',
    `import '@market/handlers/execute'`,
  ),
  violation(
    'the server imports a client',
    'clients-are-imported-by-clients-only',
    'packages/http/src/rest.ts',
    `import '@market/mcp-stdio/main'`,
  ),
  violation(
    'one app imports another',
    'apps-are-independent',
    'apps/api/src/build-app.ts',
    `import '@market/dev/main'`,
  ),
  violation(
    'production code imports what is for tests',
    'testing-is-for-tests-and-dev-only',
    'packages/http/src/rest.ts',
    `import '@market/testing/postgres'`,
  ),
  {
    wrong: 'production code imports a test',
    rules: ['production-code-imports-no-test'],
    files: {
      [`${AGENTS}/test-makers.ts`]: 'export const maker = 1',
      [`${AGENTS}/rename.ts`]: `import './test-makers.ts'`,
    },
  },
]
