import type { ICruiseOptions, IRegularForbiddenRuleType as Rule } from 'dependency-cruiser'

/** The layers, top to bottom. A file may import every layer below its own. */
const LAYERS = {
  apps: '^apps/',
  transports: '^packages/(http|mcp|jobs)/',
  handlers: '^packages/handlers/',
  work: '^packages/work/',
  earn: '^packages/earn/',
  trade: '^packages/trade/',
  offers: '^packages/offers/',
  custody: '^packages/custody/',
  reserves: '^packages/reserves/',
  'identity-money-and-files': '^packages/(identity|money|files)/',
  core: '^packages/core/',
  database: '^packages/database/',
  kernel: '^packages/kernel/',
}

/** The modules of each domain package, in order. A module may import the modules after it, by their `index.ts`. */
export const MODULES = {
  work: ['erasure', 'earnings', 'acceptances', 'portfolio', 'workspaces', 'messages'],
  earn: ['withdrawals', 'deposits', 'venue-transfers', 'pools'],
  trade: ['x402', 'orders', 'reviews'],
  offers: ['bounties', 'listings'],
  custody: ['creator-fees', 'tokens', 'wallets', 'swaps'],
  reserves: ['anchors', 'snapshots'],
  identity: ['oauth', 'webhooks', 'agents', 'names', 'accounts', 'sessions'],
  money: ['follower', 'treasury', 'payouts', 'payments', 'ledger'],
  files: ['uploads'],
  core: [
    'approvals',
    'notifications',
    'activity',
    'statistics',
    'custody',
    'outgoing',
    'switches',
    'events',
    'queue',
    'signatures',
    'idempotency',
    'audit',
  ],
} as const

/** A test, or what only tests beside it use: `store.test.ts`, `test-support.ts`. */
export const TEST = '\\.test\\.ts$|/test-[^/]+\\.ts$|^tests/'

const DOMAIN = `^packages/(${Object.keys(MODULES).join('|')})/`
const MODULE = `${DOMAIN}src/(?!ports/)([^/]+)/`
const PORTS = '^packages/core/src/ports/'
const ADAPTERS = '^packages/(chains|platform)/'
const CLIENTS = '^packages/(sdk|solvency|cli|mcp-stdio|admin|console)/'
/** A list without imports. Every layer throws errors with these codes, so the kernel imports their type. */
const ERROR_CODES = '^packages/contract/src/error-codes\\.ts$'
/** A list without imports, too. Clients sign payments by these types, and the worker signs payouts. */
const AUTHORIZATION_TYPES = '^packages/contract/src/authorization-types\\.ts$'
const SQL = 'node_modules/(kysely|pg|pg-[^/]+|postgres)/'

type Step = readonly [name: string, path: string]

/** Of a list from top to bottom: nothing imports what stands before it. */
const importsLowerOnly = (kind: string, steps: readonly Step[], pathNot: string[]): Rule[] =>
  steps.slice(1).map(([name, path], above) => ({
    name: `${name}-imports-lower-${kind}-only`,
    severity: 'error',
    from: { path, pathNot },
    to: { path: steps.slice(0, above + 1).map(([, higher]) => higher) },
  }))

const never = (name: string, from: Rule['from'], to: Rule['to']): Rule => ({
  name,
  severity: 'error',
  from,
  to,
})

const everywhere: Rule[] = [
  never('no-import-cycles', {}, { circular: true }),
  // An import that cannot be resolved has no path, so no other rule would see it.
  never('every-import-resolves', {}, { couldNotResolve: true }),
  never(
    'packages-are-imported-by-name',
    { path: '^(apps|packages)/([^/]+)/' },
    { path: '^(apps|packages)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
  ),
  never('production-code-imports-no-test', { path: '^(apps|packages)/', pathNot: TEST }, { path: TEST }),
  never(
    'testing-is-for-tests-and-dev-only',
    { path: '^(apps|packages)/', pathNot: [TEST, '^packages/testing/', '^apps/dev/'] },
    { path: '^packages/testing/' },
  ),
]

const layers: Rule[] = [
  // A test may import a higher layer: the test of a webhook needs an order.
  ...importsLowerOnly('layers', Object.entries(LAYERS), [TEST]),
  never(
    'identity-money-and-files-are-independent',
    { path: '^packages/(identity|money|files)/', pathNot: TEST },
    { path: LAYERS['identity-money-and-files'], pathNot: '^packages/$1/' },
  ),
  // `dev` runs the whole marketplace on one machine, so it starts the other apps.
  never('apps-are-independent', { path: '^apps/(?!dev/)([^/]+)/' }, { path: '^apps/', pathNot: '^apps/$1/' }),
  never(
    'transports-are-independent',
    { path: '^packages/(http|mcp|jobs)/' },
    { path: LAYERS.transports, pathNot: '^packages/$1/' },
  ),
  never(
    'transports-contain-no-sql',
    { path: LAYERS.transports, pathNot: TEST },
    { path: ['^packages/database/', SQL] },
  ),
  never(
    'handlers-contain-no-sql',
    { path: LAYERS.handlers, pathNot: TEST },
    { path: ['^packages/database/src/(?!(transact|outage)\\.ts$)', SQL] },
  ),
  never(
    'kernel-imports-nothing',
    { path: LAYERS.kernel, pathNot: TEST },
    { pathNot: [LAYERS.kernel, ERROR_CODES], dependencyTypesNot: ['core'], couldNotResolve: false },
  ),
]

const modules: Rule[] = [
  ...Object.entries(MODULES).flatMap(([name, ordered]) =>
    importsLowerOnly(
      'modules',
      ordered.map((module): Step => [module, `^packages/${name}/src/${module}/`]),
      [TEST],
    ),
  ),
  never(
    'modules-are-imported-by-index',
    { path: `${DOMAIN}src/([^/]+)/` },
    { path: `${MODULE}(?!index\\.ts$)`, pathNot: '^packages/$1/src/$2/' },
  ),
  never(
    'index-exports-its-own-module',
    { path: `${MODULE}index\\.ts$` },
    { pathNot: '^packages/$1/src/$2/', couldNotResolve: false },
  ),
  never(
    'context-and-ports-import-no-module',
    { path: '^packages/core/src/(context\\.ts$|reseal\\.ts$|ports/)' },
    { path: MODULE },
  ),
  never(
    'ports-import-kernel-only',
    { path: PORTS, pathNot: TEST },
    { pathNot: ['^packages/core/src/', LAYERS.kernel], couldNotResolve: false },
  ),
  // Protocols, chains and drivers are packages; the domain needs three: its SQL builder, the batching of reads, and the
  // recognition of file types.
  never(
    'domain-imports-no-protocol-library',
    { path: DOMAIN, pathNot: TEST },
    {
      path: [
        'node_modules/(?!(?:kysely|dataloader|file-type)/)',
        '^(http|http2|https|net|tls|dgram|dns)(/|$)',
      ],
    },
  ),
]

const besides: Rule[] = [
  never(
    'adapters-are-imported-by-apps-only',
    { path: '^packages/([^/]+)/', pathNot: [TEST, '^packages/testing/'] },
    { path: ADAPTERS, pathNot: '^packages/$1/' },
  ),
  never(
    'adapters-import-ports-and-kernel-only',
    { path: ADAPTERS, pathNot: TEST },
    {
      path: '^(apps|packages)/',
      pathNot: [
        ...['^packages/$1/', PORTS, LAYERS.kernel, ADAPTERS, '^packages/testing/'],
        AUTHORIZATION_TYPES,
      ],
    },
  ),
  never(
    'contract-imports-zod-only',
    { path: '^packages/contract/', pathNot: TEST },
    { pathNot: ['^packages/contract/', 'node_modules/zod/'], couldNotResolve: false },
  ),
  never(
    'contract-is-for-handlers-transports-and-clients',
    {
      path: '^packages/',
      pathNot: [TEST, '^packages/(contract|http|mcp|handlers|sdk|cli|mcp-stdio|admin|console|testing)/'],
    },
    { path: '^packages/contract/', pathNot: [ERROR_CODES, AUTHORIZATION_TYPES] },
  ),
  never(
    'clients-import-contract-only',
    { path: CLIENTS, pathNot: TEST },
    {
      path: '^(apps|packages)/',
      // What is printed is cleaned in one way.
      pathNot: ['^packages/(contract|sdk|solvency|$1)/', '^packages/cli/src/terminal/clean-text\\.ts$'],
    },
  ),
  never(
    'clients-are-imported-by-clients-only',
    { path: '^(apps|packages)/', pathNot: [TEST, CLIENTS, '^apps/web/'] },
    { path: CLIENTS },
  ),
  // The pages are a client like any other: what they need, the API offers to everybody.
  never(
    'web-imports-clients-and-style-only',
    { path: '^apps/web/', pathNot: TEST },
    { path: '^(apps|packages)/', pathNot: ['^apps/web/', '^packages/(sdk|solvency|style)/'] },
  ),
  never(
    'style-imports-nothing',
    { path: '^packages/style/', pathNot: TEST },
    { pathNot: ['^packages/style/'], couldNotResolve: false },
  ),
]

export const RULES: Rule[] = [...everywhere, ...layers, ...modules, ...besides]

export const CRUISE_OPTIONS: ICruiseOptions = {
  // Without the swc parser the cruiser reads no TypeScript, and finds nothing.
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  // Written by `npm run pack:clients` and `npm run build:web`.
  exclude: { path: '^(apps|packages)/[^/]+/dist/' },
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['import', 'types', 'default'],
    extensions: ['.ts', '.js'],
  },
}
