import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Lines of the sources with this text, without comments and tests. */
function linesWith(pattern: RegExp, files: string): string[] {
  return globSync(files, { cwd: ROOT })
    .filter((file) => !/\.test\.tsx?$|node_modules/.test(file))
    .toSorted()
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line) && !/^\s*(?:\/\/|\*|\/\*|--)/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
}

test('timers: the heartbeat is the only one of the worker; a sweep or a job does everything else', () => {
  const found = linesWith(
    /\bsetInterval\(/,
    '{packages/{jobs,core,money,reserves,custody,earn,trade,work},apps/worker}/src/**/*.ts',
  )
  expect(found.map((line) => line.split(':')[0])).toEqual(['packages/jobs/src/heartbeat.ts'])
})

test('job engine: its private tables are used by the statement that unlocks lost jobs, and by no other', () => {
  expect(linesWith(/graphile_worker\._private_/, '{apps,packages}/*/{src,migrations}/**/*.{ts,sql}')).toEqual(
    [
      'packages/core/src/queue/store.ts: update graphile_worker._private_jobs set locked_at = null, locked_by = null',
    ],
  )
})

/** Who reads a chain, without those that send. The list only gets shorter. */
test('chains: two sweeps read the blocks of a network, and few ask about one transaction', () => {
  const found = linesWith(
    /\.(?:findTransfer|checkTransfer|movementsAfter|finalMovementsAfter|observe|finalBalancesOf)\(|\bchain\.balanceOf\(/,
    'packages/{core,money,reserves,custody,earn,trade,handlers,jobs}/src/**/*.ts',
  )
  expect([...new Set(found.map((line) => line.split(':')[0]))]).toEqual([
    'packages/core/src/outgoing/advance.ts',
    'packages/custody/src/swaps/execute-swap.ts',
    'packages/handlers/src/chain-budget.ts',
    'packages/money/src/follower/decide-finality.ts',
    'packages/money/src/follower/read-new-blocks.ts',
    'packages/money/src/payments/find-payment.ts',
    'packages/money/src/payments/intents/check-intents.ts',
    'packages/money/src/payments/recheck-transfers.ts',
    'packages/money/src/payouts/advance-payout.ts',
  ])
})

/** Who sends transactions. The list only gets shorter. */
test('chains: three mechanisms send', () => {
  const found = linesWith(
    /\b(?:rail|facilitator|sender|batches)\.send\(|\bsend\?\.\(/,
    'packages/{core,money,reserves,custody,earn,trade,handlers,jobs}/src/**/*.ts',
  )
  expect([...new Set(found.map((line) => line.split(':')[0]))]).toEqual([
    'packages/core/src/outgoing/advance.ts',
    'packages/money/src/payments/settlements/send-settlement.ts',
    'packages/money/src/payouts/batches/submit-payouts.ts',
  ])
})
