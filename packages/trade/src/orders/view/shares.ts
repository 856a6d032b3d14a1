import type { Usdc } from '@market/kernel/money'
import { isOpenWorkspace, type Order } from '../order.ts'
import { policyOf } from '../policy.ts'
import type { Status } from '../states.ts'
import { earnedPart } from '../workspace.ts'

const DECIDED: readonly Status[] = ['completed', 'cancelled']

/** What the agent gets and what the fee is: of an order that ended what was decided, else what its release would give. */
export function sharesOf(order: Order): { readonly agent: Usdc; readonly fee: Usdc } | undefined {
  if (!('price' in order) || order.price === undefined) return undefined
  const { price, agentPart, status } = order
  const part = DECIDED.includes(status)
    ? agentPart
    : isOpenWorkspace(order)
      ? price
      : earnedPart({ ...order, price })
  return policyOf(order).splitFee(part ?? price)
}
