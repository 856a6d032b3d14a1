import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { removeFix } from './tests/gauntlet/remove-fix.ts'
import { REMOVED_FIXES } from './tests/gauntlet/removed-fixes.ts'
import { SummaryReporter } from './tests/support/summary-reporter.ts'

// Processes share compiled code: starting them is much of what the tests cost.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compiled', import.meta.url))

/** Measures time, needs the whole machine or repeats costly starts. Only the gauntlet runs these, one file at a time. */
const GAUNTLET = [
  'tests/browser/web-modes.test.ts',
  'tests/deploy/{image,install}.test.ts',
  'tests/earn/processes.test.ts',
  'tests/failover/*.test.ts',
  'tests/guides/guides.test.ts',
  'tests/load/{bounties,orders,payables,search,statistics}.test.ts',
  'tests/faults/{floods,money-bugs,rolling-restarts,slow-clients}.test.ts',
  'tests/journeys/dev-ends{,-anywhere}.test.ts',
  'tests/operations/{previous-release,restore-drill}.test.ts',
  'tests/payouts/{database-restart,killed-at-step}.test.ts',
  'tests/reserves/many.test.ts',
  'tests/webhooks/{fairness,postgres-restart,stream-slow}.test.ts',
]

/** Starts, kills and awaits processes. */
const PROCESSES = [
  'tests/files/streaming.test.ts',
  'tests/journeys/**/*.test.ts',
  'tests/mcp/two-processes.test.ts',
  'tests/faults/{idempotency-crash,postgres,rate-limits,shutdown,vault-rotation}.test.ts',
  'tests/webhooks/{graceful,kills,recovery}.test.ts',
  'tests/workers/**/*.test.ts',
]

/** Starts api and worker processes on chains of their own. */
const STACKS = [
  'tests/bounties/accept-on-chains.test.ts',
  'tests/faults/money.test.ts',
  'tests/operations/expand.test.ts',
  'tests/payouts/{crash,restore}.test.ts',
]

/** Needs a browser, which npm does not install. */
const BROWSER = ['tests/browser/**/*.test.ts']

/** Needs promtool of Debian's package `prometheus`. */
const ALERTS = ['tests/operations/promtool.test.ts']

/** Reads the sources alone. `npm run check` runs these. */
const ARCHITECTURE = ['tests/architecture/**/*.test.ts']

/** What a test imports when it needs Postgres, Redis, a chain, a server or a process. */
const SERVICE =
  /'(?:@market\/testing\/(?!clock|evm-signer|keys|solana-signer)|node:(?:http|https|net|dgram|child_process)|pg|ioredis)/

/** Tests of pure rules: beside the code, and without any service. */
const UNIT = globSync('{packages,apps}/*/src/**/*.test.ts', { cwd: import.meta.dirname }).filter(
  (file) => !SERVICE.test(readFileSync(new URL(file, import.meta.url), 'utf8')),
)

/**
 * Files that take about 2 % of all worker seconds or more, and why. They start first within their project, so that no worker
 * still runs one of them when all others have finished.
 */
export const LONG_FILES: Readonly<Record<string, string>> = {
  'tests/faults/money.test.ts': 'buys on three chains while processes are killed and connections cut',
  'tests/payouts/crash.test.ts': 'pays on three chains while workers are killed and calls to nodes hang',
  'tests/payouts/restore.test.ts': 'restores a database and reads three chains again',
  'tests/bounties/accept-on-chains.test.ts':
    '50 transfers for 20 claims on three chains while processes are killed',
  'tests/journeys/dev-networks.test.ts': 'runs the guides and examples on one local stack',
  'tests/journeys/dev.test.ts': 'starts two local stacks side by side',
  'tests/earn/crash.test.ts': 'moves money to a vault and back while workers are killed',
  'tests/faults/vault-rotation.test.ts':
    'kills and repeats rotations, and starts the api with each set of keys',
  'tests/contract-wide/fuzz.test.ts': 'sends four random requests of each of the 123 operations',
  'tests/browser/reference.test.ts': 'loads pages of 4 MB in a browser',
  'tests/browser/web-order.test.ts': 'plays whole orders in a browser on three local chains',
  'tests/browser/web-payment.test.ts': 'pays in a browser while a local stack is disturbed',
  'tests/browser/web-work.test.ts': 'plays a bounty and a workspace in a browser on a local stack',
  'tests/operations/expand.test.ts': 'completes orders before and after each migration of the next version',
  'tests/browser/web.test.ts': 'opens each page in two sizes and color schemes in a browser',
}

const LONGEST = Object.keys(LONG_FILES)
const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((path) => moduleId.endsWith(path))
  return rank === -1 ? LONGEST.length : rank
}

/** The projects that run side by side. The first ones have the longest files. */
const PROJECT_ORDER = ['processes', 'browser', 'alerts', 'integration']

/** A worker keeps its imports while the next file is of the same project, so the files of a project follow each other. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const orderOf = ({ project }: TestSpecification) => PROJECT_ORDER.indexOf(project.name)
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => orderOf(a) - orderOf(b) || rankOf(a) - rankOf(b))
  }

  /** Deals the files out like cards, the long ones first, so that each shard of `--shard n/m` takes about as long. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    const dealt = files.toSorted((a, b) => rankOf(a) - rankOf(b) || compare(keyOf(a), keyOf(b)))
    return dealt.filter((_, position) => position % count === index - 1)
  }
}

const keyOf = ({ project, moduleId }: TestSpecification): string => `${project.name} ${moduleId}`
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** More than there are cores: most files wait for processes, chains and intervals. */
const SERVICE_WORKERS = 4

const fix = REMOVED_FIXES.find(({ finding }) => finding === process.env['REMOVED_FIX'])

/** Takes one fix out of the sources, so that the gauntlet sees its test fail. */
const withoutFix = {
  name: 'without-fix',
  enforce: 'pre' as const,
  transform: (code: string) =>
    fix && code.includes(`// fix: ${fix.marker}`) ? removeFix(code, fix) : undefined,
}

/** The parser of workflows names source maps that its package does not have. */
const withoutSourceMaps = {
  name: 'without-source-maps',
  load: (id: string) =>
    /@actions\/.*\.js$/.test(id)
      ? readFileSync(id, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '')
      : undefined,
}

/** Generous: a busy machine makes tests slower, and must not make them fail. */
const shared = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  pool: 'forks' as const,
  // The cache would keep the source without its fix.
  fsModuleCache: fix === undefined,
}
const withServices = {
  ...shared,
  globalSetup: ['packages/testing/src/template-database.ts', 'tests/support/bundle.ts'],
}

/** Set by `.ci/run`. */
const summary = process.env['TEST_SUMMARY']

export default defineConfig({
  plugins: [withoutFix],
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: summary === undefined ? ['default'] : ['default', new SummaryReporter(summary, LONG_FILES)],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'unit',
          include: UNIT,
          // A test whose conditions skip every assertion fails.
          expect: { requireAssertions: true },
          setupFiles: ['tests/support/count-properties.ts'],
          // The files of a worker share their imports, which cost more than these tests.
          isolate: false,
          // A unit test that reaches for a service fails.
          env: { POSTGRES_URL: 'postgres://127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...withServices,
          name: 'integration',
          include: ['{apps,packages,tests}/**/*.test.ts'],
          exclude: [
            '**/node_modules/**',
            ...UNIT,
            ...GAUNTLET,
            ...PROCESSES,
            ...STACKS,
            ...BROWSER,
            ...ALERTS,
            ...ARCHITECTURE,
          ],
          isolate: false,
          maxWorkers: SERVICE_WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...withServices,
          name: 'processes',
          include: PROCESSES,
          exclude: GAUNTLET,
          isolate: false,
          maxWorkers: SERVICE_WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...withServices,
          name: 'stacks',
          include: STACKS,
          // Each starts a dozen processes: four at once took 948 worker seconds, two at once 393.
          maxWorkers: 2,
          maxConcurrency: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...withServices,
          name: 'browser',
          globalSetup: [...withServices.globalSetup, 'tests/support/build-pages.ts'],
          include: BROWSER,
          exclude: GAUNTLET,
          isolate: false,
          maxWorkers: SERVICE_WORKERS,
          // Each page occupies a core.
          maxConcurrency: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        plugins: [withoutSourceMaps],
        test: {
          ...shared,
          name: 'architecture',
          include: ARCHITECTURE,
          // It imports JSON in a way that Node does not know.
          server: { deps: { inline: [/@actions\//] } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'alerts',
          include: ALERTS,
          maxWorkers: SERVICE_WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...withServices,
          name: 'gauntlet',
          include: GAUNTLET,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
