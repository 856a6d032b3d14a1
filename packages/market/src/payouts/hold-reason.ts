import type { Tx } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { formatUsd, plus } from '@market/kernel/money'
import type { Rail } from '../ports/rail.ts'
import { orderOf, type Payout } from './payout.ts'
import type { PayoutContext } from './rails.ts'
import { sumSince } from './store.ts'

/** Why the chain's own coin keeps a payout waiting, or undefined. Asked outside any transaction. */
export async function feeReason(ctx: PayoutContext, rail: Rail, payout: Payout): Promise<string | undefined> {
  const [{ native }, balance] = await Promise.all([rail.cost(orderOf(payout)), rail.nativeBalance()])
  const cap = ctx.caps.cost[payout.network]
  if (cap !== undefined && native > cap) return `Costs ${native} to send, above the cap of ${cap}`
  return balance < native ? 'The treasury has not enough coin for fees' : undefined
}

/** Why the caps keep a payout waiting, or undefined. Asked under the network's lock, so that two cannot share a rest. */
export async function capReason(ctx: PayoutContext, tx: Tx, payout: Payout): Promise<string | undefined> {
  const { perPayout, perDay } = ctx.caps
  if (payout.amount > perPayout) return `Above the cap of ${formatUsd(perPayout)} USDC for one payout`
  const left = await sumSince(tx, payout.network, earlier(ctx.clock.now(), DAY))
  if (plus(left, payout.amount) > perDay) return `Above the cap of ${formatUsd(perDay)} USDC for a day`
  return undefined
}
