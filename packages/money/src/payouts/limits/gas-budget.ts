import type { Network } from '@market/kernel/network'
import type { Counted } from '../counters/counters.ts'
import type { Hold } from '../hold.ts'
import type { Caps } from '../payout-context.ts'

/**
 * Holds a payout when the payouts of the last 24 hours and this one cost more native coin than the budget. Before a node is
 * asked for its cost, the least is assumed: the budget is used up.
 */
export function gasBudgetHold(
  caps: Caps,
  network: Network,
  { native }: Counted,
  cost = 1n,
): Hold | undefined {
  const budget = caps.gasBudget[network]
  return budget === undefined || native + cost <= budget
    ? undefined
    : { code: 'gas_budget', detail: `${budget}` }
}
