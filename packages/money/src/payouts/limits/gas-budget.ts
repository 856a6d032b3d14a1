import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import type { Hold } from '../hold.ts'
import type { PayoutContext } from '../payout-context.ts'
import { sumCostsSince } from './store.ts'

/**
 * Holds a payout when the payouts of the last 24 hours and this one cost more native coin than the budget. Without a
 * cost, that of the cheapest of those payouts is assumed, so that nothing is asked of a node while the budget is used up.
 */
export async function gasBudgetHold(
  { caps, clock }: Pick<PayoutContext, 'caps'> & Needs<'clock'>,
  db: Db | Tx,
  network: Network,
  native?: bigint,
): Promise<Hold | undefined> {
  const budget = caps.gasBudget[network]
  if (budget === undefined) return undefined
  const { sum, least } = await sumCostsSince(db, network, earlier(clock.now(), DAY))
  return sum + (native ?? least) > budget ? { code: 'gas_budget', detail: `${budget}` } : undefined
}
