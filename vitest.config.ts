import { defineConfig } from 'vitest/config'

/** Whole houses on chains of their own, which mostly wait: some of them at once, and nothing that measures time beside them. */
const HOUSES = ['tests/faults/money*.test.ts', 'tests/payouts/{crash,restore}.test.ts']

/** Tests that measure time or take the whole machine: one file at a time, nothing beside them. */
const ALONE = [
  'tests/{faults,journeys,load}/**/*.test.ts',
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
          exclude: ['**/node_modules/**', ...HOUSES, ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
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
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'alone',
          include: ALONE,
          exclude: ['**/node_modules/**', ...HOUSES],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
