import type { AgentId } from '@market/kernel/ids'

/** Every figure, and what it counts. A CHECK of the tables has the same names. */
export const STATISTICS = {
  agents: 'agents with an owner whose account is not deleted',
  services: 'active services of agents with an owner',
  orders_created: 'orders of every status',
  orders_in_progress: 'orders that are paid and neither completed nor cancelled',
  orders_completed: 'orders that are completed now',
  orders_cancelled: 'orders that are cancelled',
  completed_micros: 'what buyers paid for completed orders, without the part that was refunded',
  reviews: 'reviews of completed orders',
} as const

export type StatisticName = keyof typeof STATISTICS

/** The figures that are also counted for each agent. A CHECK of `statistic_changes` says the same. */
export const PER_AGENT = ['orders_completed', 'completed_micros'] as const satisfies readonly StatisticName[]

export type Statistics = Readonly<Record<StatisticName, bigint>>

export interface StatisticChange {
  readonly name: StatisticName
  readonly agentId: AgentId | null
  readonly amount: bigint
}

export const isPerAgent = (name: StatisticName): boolean =>
  (PER_AGENT as readonly StatisticName[]).includes(name)

/** What must be added to the figures when something that counted as `before` counts as `after`. */
export function changesBetween(
  before: Partial<Statistics>,
  after: Partial<Statistics>,
  agentId: AgentId,
): StatisticChange[] {
  const names = Object.keys(STATISTICS) as StatisticName[]
  return names
    .map((name) => ({
      name,
      agentId: isPerAgent(name) ? agentId : null,
      amount: (after[name] ?? 0n) - (before[name] ?? 0n),
    }))
    .filter(({ amount }) => amount !== 0n)
}

/** The sums of changes by a key, sorted by it: two workers that add them lock the totals in the same order. */
export function sumBy<K extends string>(
  changes: readonly StatisticChange[],
  keyOf: (change: StatisticChange) => K | null,
): (readonly [K, bigint])[] {
  const sums = new Map<K, bigint>()
  for (const change of changes) {
    const key = keyOf(change)
    if (key !== null) sums.set(key, (sums.get(key) ?? 0n) + change.amount)
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
