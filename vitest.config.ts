import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Compiled code is kept from one process to the next: starting them is much of what the tests cost.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compiled', import.meta.url))

/** Tests that measure time or take the whole machine: one file at a time, nothing beside them. */
const ALONE = [
  'tests/load/**/*.test.ts',
  'tests/faults/{postgres,rate-limits,rolling-restarts,slow-clients}.test.ts',
  'tests/webhooks/fairness.test.ts',
]

/** Processes that are started, killed and waited for: some at once. */
const PROCESSES = [
  'tests/journeys/**/*.test.ts',
  'tests/faults/{idempotency-crash,shutdown,vault-rotation}.test.ts',
  'tests/webhooks/{graceful,kills,postgres-restart,recovery}.test.ts',
]

/** Whole houses on chains of their own: two at once, for more would only take each other's time. */
const HOUSES = ['tests/faults/money*.test.ts', 'tests/payouts/{crash,restore}.test.ts']

/** Begun first, so that nobody waits for one of them at the end. */
const LONGEST = [
  'tests/contract-wide/fuzz.test.ts',
  'tests/faults/money-bugs.test.ts',
  'tests/faults/money.test.ts',
  'tests/journeys/dev-ends.test.ts',
  'tests/orders/model.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((path) => moduleId.endsWith(path))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

const shared = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' as const }

export default defineConfig({
  test: {
    globalSetup: ['packages/testing/src/template-database.ts', 'tests/support/bundle.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'together',
          include: ['{apps,packages,tests}/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...ALONE, ...PROCESSES, ...HOUSES],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'alone',
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'processes',
          include: PROCESSES,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'houses',
          include: HOUSES,
          maxWorkers: 2,
          maxConcurrency: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
