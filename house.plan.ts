import type { ICruiseOptions, IRegularForbiddenRuleType as Rule } from 'dependency-cruiser'

/** The floors, top to bottom. A file may import any floor below its own. */
const FLOORS = {
  apps: '^apps/',
  edges: '^packages/(http|mcp|jobs)/',
  handlers: '^packages/handlers/',
  market: '^packages/market/',
  database: '^packages/database/',
  kernel: '^packages/kernel/',
}

/** The market's own stairs, top to bottom. A module may use the doors of the modules after it. */
export const STAIRS = [
  'feed',
  'x402',
  'bounties',
  'workspaces',
  'reviews',
  'messages',
  'disputes',
  'orders',
  'earn',
  'tokens',
  'wallets',
  'listings',
  'webhooks',
  'treasury',
  'reserves',
  'agents',
  'notifications',
  'accounts',
  'custody',
  'payouts',
  'payments',
  'ledger',
  'switches',
  'events',
  'queue',
  'requests',
  'audit',
]

/** Stairs whose module is not built yet; a module that is built leaves this list. */
export const PLANNED = ['feed', 'bounties', 'workspaces', 'disputes', 'earn', 'tokens', 'wallets']

/** Which module of the market writes each table. Everyone may read. */
export const OWNERS: Readonly<Record<string, string>> = {
  agents: 'agents',
  agent_wallets: 'custody',
  audit_head: 'audit',
  audit_log: 'audit',
  deliveries: 'webhooks',
  delivery_lanes: 'webhooks',
  event_counters: 'events',
  events: 'events',
  gas_nonces: 'x402',
  gas_transactions: 'x402',
  hires: 'x402',
  ledger_accounts: 'ledger',
  ledger_journals: 'ledger',
  ledger_moves: 'ledger',
  listing_buyers: 'listings',
  listings: 'listings',
  notifications: 'notifications',
  order_deliveries: 'orders',
  order_messages: 'messages',
  order_steps: 'orders',
  orders: 'orders',
  payout_gates: 'payouts',
  payout_signatures: 'payouts',
  payouts: 'payouts',
  rail_nonces: 'payouts',
  requests: 'requests',
  reserve_leaves: 'reserves',
  reserve_looks: 'reserves',
  reviews: 'reviews',
  sendings: 'payouts',
  switches: 'switches',
  transfers: 'payments',
  treasury_positions: 'payments',
  unread_counters: 'notifications',
  used_signatures: 'requests',
  user_wallets: 'accounts',
  users: 'accounts',
  worker_pools: 'queue',
}

/** A test, or what only tests beside it use: `store.test.ts`, `test-support.ts`. */
export const TEST = '\\.test\\.ts$|/test-[^/]+\\.ts$|^tests/'

const MODULE = '^packages/market/src/(?!ports/)([^/]+)/'
const ADAPTERS = '^packages/(chains|platform)/'
const SQL = 'node_modules/(kysely|pg|pg-[^/]+|postgres)/'

type Step = readonly [name: string, path: string]

const lookDown = (steps: readonly Step[], pathNot: string[]): Rule[] =>
  steps.slice(1).map(([name, path], above) => ({
    name: `${name}-looks-down-only`,
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

const whole: Rule[] = [
  never('no-circles', {}, { circular: true }),
  // An import that leads nowhere has no path, so no other rule would see it.
  never('every-import-leads-somewhere', {}, { couldNotResolve: true }),
  never(
    'call-a-package-by-its-name',
    { path: '^(apps|packages)/([^/]+)/' },
    { path: '^(apps|packages)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
  ),
  never('nothing-stands-on-a-test', { path: '^(apps|packages)/', pathNot: TEST }, { path: TEST }),
  never(
    'testing-serves-tests-and-dev-only',
    { path: '^(apps|packages)/', pathNot: [TEST, '^packages/testing/', '^apps/dev/'] },
    { path: '^packages/testing/' },
  ),
]

const floors: Rule[] = [
  ...lookDown(Object.entries(FLOORS), []),
  // `dev` is the whole marketplace on one machine, so it starts the other apps.
  never('apps-stand-apart', { path: '^apps/(?!dev/)([^/]+)/' }, { path: '^apps/', pathNot: '^apps/$1/' }),
  never(
    'edges-stand-apart',
    { path: '^packages/(http|mcp|jobs)/' },
    { path: FLOORS.edges, pathNot: '^packages/$1/' },
  ),
  never('edges-hold-no-sql', { path: FLOORS.edges, pathNot: TEST }, { path: ['^packages/database/', SQL] }),
  never(
    'handlers-hold-no-sql',
    { path: FLOORS.handlers, pathNot: TEST },
    { path: ['^packages/database/src/(?!(transact|outage)\\.ts$)', SQL] },
  ),
  never(
    'kernel-stands-on-nothing',
    { path: FLOORS.kernel, pathNot: TEST },
    { pathNot: FLOORS.kernel, dependencyTypesNot: ['core'], couldNotResolve: false },
  ),
]

const market: Rule[] = [
  // A test may climb: a wallet's row needs an agent's row before it.
  ...lookDown(
    STAIRS.map((name): Step => [name, `^packages/market/src/${name}/`]),
    [TEST],
  ),
  never(
    'through-the-door',
    { path: '^packages/market/src/([^/]+)/' },
    { path: `${MODULE}(?!index\\.ts$)`, pathNot: '^packages/market/src/$1/' },
  ),
  never(
    'a-door-opens-its-own-module',
    { path: `${MODULE}index\\.ts$` },
    { pathNot: '^packages/market/src/$1/', couldNotResolve: false },
  ),
  never(
    'context-stands-under-the-stairs',
    { path: '^packages/market/src/(context\\.ts$|ports/)' },
    { path: MODULE },
  ),
  never(
    'ports-stand-on-kernel-alone',
    { path: '^packages/market/src/ports/', pathNot: TEST },
    { pathNot: ['^packages/market/src/', FLOORS.kernel], couldNotResolve: false },
  ),
  // Wire protocols, chains and drivers are packages; the market needs two: its SQL builder and the batching of reads.
  never(
    'market-knows-no-wire',
    { path: FLOORS.market, pathNot: TEST },
    { path: ['node_modules/(?!(?:kysely|dataloader)/)', '^(http|http2|https|net|tls|dgram|dns)(/|$)'] },
  ),
]

const wings: Rule[] = [
  never(
    'adapters-serve-apps-only',
    { path: '^packages/([^/]+)/', pathNot: [TEST, '^packages/testing/'] },
    { path: ADAPTERS, pathNot: '^packages/$1/' },
  ),
  never(
    'adapters-see-ports-and-kernel-only',
    { path: ADAPTERS, pathNot: TEST },
    {
      path: '^(apps|packages)/',
      pathNot: [
        '^packages/$1/',
        '^packages/market/src/ports/',
        FLOORS.kernel,
        ADAPTERS,
        '^packages/testing/',
      ],
    },
  ),
  never(
    'contract-imports-zod-only',
    { path: '^packages/contract/', pathNot: TEST },
    { pathNot: ['^packages/contract/', 'node_modules/zod/'], couldNotResolve: false },
  ),
  never(
    'contract-is-for-those-who-speak-it',
    {
      path: '^packages/',
      pathNot: [TEST, '^packages/(contract|http|mcp|handlers|sdk|cli|mcp-stdio|console|testing)/'],
    },
    { path: '^packages/contract/' },
  ),
  never(
    'clients-stand-on-contract-alone',
    { path: '^packages/(sdk|cli|mcp-stdio|console)/', pathNot: TEST },
    { path: '^(apps|packages)/', pathNot: '^packages/(contract|sdk|$1)/' },
  ),
]

export const RULES: Rule[] = [...whole, ...floors, ...market, ...wings]

export const READING: ICruiseOptions = {
  // Without the swc parser the cruiser reads no TypeScript, and is always content.
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['import', 'types', 'default'],
    extensions: ['.ts', '.js'],
  },
}
