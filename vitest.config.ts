import { defineConfig } from 'vitest/config'

/** The long harness over money runs by its own commands until it is short and steady enough for every run. */
const HARNESS = process.env['HARNESS'] === undefined ? ['tests/faults/money*.test.ts'] : []

/** Tests that measure time or take the whole machine: one file at a time, nothing beside them. */
const ALONE = [
  'tests/{faults,journeys,load}/**/*.test.ts',
  'tests/payouts/{crash,restore}.test.ts',
  'tests/webhooks/{fairness,graceful,kills,postgres-restart,recovery}.test.ts',
]

const shared = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' as const }

export default defineConfig({
  test: {
    globalSetup: ['packages/testing/src/template-database.ts'],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'together',
          include: ['{apps,packages,tests}/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'alone',
          include: ALONE,
          exclude: ['**/node_modules/**', ...HARNESS],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
