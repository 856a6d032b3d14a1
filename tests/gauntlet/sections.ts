/** One line of the gauntlet's table: a vitest run, or a script, with its settings. */
export interface Section {
  readonly name: string
  /** What the number of seeds sets; undefined when the section has none. */
  readonly seeds?: number
  readonly settings?: (seeds: number, firstSeed: number) => Readonly<Record<string, number | string>>
  readonly files?: readonly string[]
  readonly script?: string
}

/** Sizes for two cores that run nothing else. */
export const SECTIONS: readonly Section[] = [
  {
    name: 'models',
    seeds: 1,
    settings: (seeds, firstSeed) => ({
      ORDER_SEED: firstSeed,
      ORDER_HISTORIES: 1_000 * seeds,
      BOUNTY_SEED: firstSeed,
      BOUNTY_HISTORIES: 1_000 * seeds,
      LEDGER_ROUNDS: 7 * seeds,
      PAYMENT_SEQUENCES: 320 * seeds,
      RACE_ROUNDS: 100 * seeds,
      RACE_CONNECTIONS: 25,
      RESERVE_SNAPSHOTS: 400 * seeds,
      STATISTICS_SEED: firstSeed,
      STATISTICS_HISTORIES: 1_000 * seeds,
    }),
    files: [
      'tests/orders/model.test.ts',
      'tests/orders/races.test.ts',
      'tests/bounties/model.test.ts',
      'tests/bounties/races.test.ts',
      'tests/bounties/accept-races.test.ts',
      'tests/ledger/model.test.ts',
      'tests/ledger/races.test.ts',
      'tests/payments/model.test.ts',
      'tests/reserves/races.test.ts',
      'tests/statistics/model.test.ts',
    ],
  },
  {
    name: 'fuzz',
    seeds: 1,
    settings: (seeds, firstSeed) => ({ FUZZ_SEED: firstSeed, FUZZ_CASES: 2_000 * seeds }),
    files: ['tests/contract-wide/fuzz.test.ts'],
  },
  {
    name: 'money',
    seeds: 8,
    settings: (seeds, firstSeed) => ({
      ...{ SEEDS: seeds, SEED: firstSeed, ORDERS: 200, FAULTS: 20 },
      ...{ REORG_ORDERS: 200, REORGS: 20 },
    }),
    files: ['tests/faults/money.test.ts'],
  },
  {
    name: 'bugs',
    seeds: 1,
    settings: (seeds, firstSeed) => ({
      SEED: firstSeed,
      // With one seed each bug gets a few tries; with more, nearly every seed must show it.
      ...(seeds > 1 && { SEEDS: seeds }),
    }),
    files: ['tests/faults/money-bugs.test.ts'],
  },
  {
    name: 'payouts',
    seeds: 2,
    settings: (seeds, firstSeed) => ({
      SEEDS: seeds,
      SEED: firstSeed,
      PAYOUTS: 300,
      PAYOUT_WORKERS: 4,
      FAULTS_MS: 110_000,
    }),
    files: [
      'tests/payouts/crash.test.ts',
      'tests/payouts/database-restart.test.ts',
      'tests/payouts/killed-at-step.test.ts',
    ],
  },
  {
    name: 'earn',
    settings: (_seeds, firstSeed) => ({
      SEED: firstSeed,
      EARN_CRASHES: 'all',
      EARN_HISTORIES: 100_000,
      EARN_VAULT_HISTORIES: 300,
      EARN_DUST: 1_300,
    }),
    files: [
      'tests/earn/processes.test.ts',
      'tests/earn/crash.test.ts',
      'tests/earn/rules/fairness.test.ts',
      'tests/earn/histories.test.ts',
      'tests/earn/fair.test.ts',
    ],
  },
  {
    name: 'webhooks',
    settings: () => ({
      FAIRNESS_EVENTS: 10_000,
      KILLS: 20,
      KILLS_DELIVERIES: 5_000,
      RESTART_DELIVERIES: 5_000,
      RECOVERY_JOBS: 100,
    }),
    files: [
      'tests/webhooks/conformance.test.ts',
      'tests/contract/test-delivery.test.ts',
      'tests/webhooks/fairness.test.ts',
      'tests/webhooks/graceful.test.ts',
      'tests/webhooks/kills.test.ts',
      'tests/webhooks/postgres-restart.test.ts',
      'tests/webhooks/recovery.test.ts',
      'tests/webhooks/stream-ends.test.ts',
      'tests/webhooks/stream-slow.test.ts',
    ],
  },
  {
    name: 'restarts',
    settings: () => ({ ROLLS: 25, KILL_DELAYS_MS: '0,150,400' }),
    files: [
      'tests/faults/rolling-restarts.test.ts',
      'tests/journeys/dev-ends.test.ts',
      'tests/journeys/dev-ends-anywhere.test.ts',
    ],
  },
  {
    name: 'faults',
    settings: () => ({ VAULT_VALUES: 4_000 }),
    files: [
      'tests/faults/floods.test.ts',
      'tests/faults/postgres.test.ts',
      'tests/faults/rate-limits.test.ts',
      'tests/faults/shutdown.test.ts',
      'tests/faults/slow-clients.test.ts',
      'tests/faults/vault-rotation.test.ts',
      'tests/files/streaming.test.ts',
      'tests/chains/evm-nodes.test.ts',
    ],
  },
  { name: 'failover', files: ['tests/failover/drill.test.ts', 'tests/failover/standby.test.ts'] },
  {
    name: 'releases',
    files: ['tests/operations/previous-release.test.ts', 'tests/operations/restore-drill.test.ts'],
  },
  { name: 'deploy', files: ['tests/deploy/image.test.ts', 'tests/deploy/install.test.ts'] },
  { name: 'guides', files: ['tests/guides/guides.test.ts'] },
  {
    name: 'pages',
    settings: () => ({ PAGE_MODES: 'all', SCREENSHOTS: 1 }),
    files: [
      'tests/browser/reference.test.ts',
      'tests/browser/web-modes.test.ts',
      'tests/browser/web-sources.test.ts',
    ],
  },
  {
    name: 'load',
    settings: () => ({ AGENT_WALLETS: 250_000 }),
    files: ['tests/load', 'tests/reserves/many.test.ts', 'tests/reserves/many-wallets.test.ts'],
  },
  {
    name: 'thefts',
    seeds: 1,
    settings: (seeds) => ({ THEFTS: 50 * seeds }),
    files: ['tests/x402/stolen-payments.test.ts'],
  },
  { name: 'audit', script: 'tests/gauntlet/check-audit.ts' },
  { name: 'fixes', script: 'tests/gauntlet/check-fixes.ts' },
  { name: 'x402-v1', script: 'tests/x402/first-version-client.ts' },
]
