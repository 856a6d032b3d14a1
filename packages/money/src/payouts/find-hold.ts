import type { PayoutSender } from '@market/core/ports/payout-sender'
import { isStopped, payoutSwitches } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { isPaymentFinal } from '../payments/index.ts'
import { aliveHold } from './alive-hold.ts'
import { scopesOf } from './counters/counters.ts'
import { findCounted } from './counters/store.ts'
import { fundingHold } from './funding-hold.ts'
import { contestHold, type Hold } from './hold.ts'
import { decideCaps } from './limits/caps.ts'
import { gasBudgetHold } from './limits/gas-budget.ts'
import { minimumHold } from './limits/minimum.ts'
import { closedBy, type Guard } from './outgoing/guard.ts'
import { isWaiting, type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { lockPayout, saveHold } from './store.ts'

/** The hold of the switch that is on; undefined when it does not stop payouts of the network. */
export function freezeHold(network: Network, name: string | undefined): Hold | undefined {
  const [all, own] = payoutSwitches(network)
  if (name === all) return { code: 'payouts_frozen' }
  return name === own ? { code: 'network_frozen', detail: network } : undefined
}

export async function holdPayout(ctx: PayoutContext, payout: Payout, hold: Hold): Promise<Payout> {
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    return isWaiting(locked) ? saveHold(tx, locked, hold, ctx.clock.now()) : locked
  })
}

/** What sending the payout costs now. */
export type SendingCost = Awaited<ReturnType<PayoutSender['estimateCost']>>

/** Reads the chain, so it runs outside a transaction. */
export async function checkCost(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<{ hold: Hold; cost?: never } | { hold?: never; cost: SendingCost }> {
  const [cost, balance] = await Promise.all([
    sender.estimateCost(senderRequestOf(payout)),
    sender.nativeBalance(),
  ])
  const { native } = cost
  const cap = ctx.caps.cost[payout.network]
  if (cap !== undefined && native > cap)
    return { hold: { code: 'fee_above_cap', detail: `${native}, the cap is ${cap}` } }
  return balance < native ? { hold: { code: 'fee_balance_low' } } : { cost }
}

/**
 * Why a payout waits, as far as the database knows. A node is asked only about a payout that this lets through, so that
 * many held payouts do not delay others. `authorizePayouts` decides again under the lock.
 */
export async function findHold(ctx: PayoutContext, payout: Payout, guard: Guard): Promise<Hold | undefined> {
  const { network } = payout
  return transact(ctx.db, async (tx) => {
    for (const name of payoutSwitches(network))
      if (await isStopped(tx, [name])) return freezeHold(network, name)
    const early = await earlyHold(ctx, tx, payout, guard)
    if (early !== undefined) return early
    const counted = await findCounted(tx, network, scopesOf(payout), ctx.clock.now())
    return (await decideCaps(ctx, tx, payout, counted)).hold ?? gasBudgetHold(ctx.caps, network, counted)
  })
}

/** Why the payout may not be sent now, whatever else is paid. */
export const earlyHold = async (
  ctx: PayoutContext,
  tx: Tx,
  payout: Payout,
  guard: Guard | undefined,
): Promise<Hold | undefined> =>
  (await fundingHold(ctx, tx, payout)) ??
  contestHold(payout, ctx.clock.now()) ??
  (await paymentHold(tx, payout)) ??
  (await aliveHold(tx, payout, guard)) ??
  minimumHold(ctx, payout) ??
  closedBy(guard)

/** A payment that the chain can still reverse funds no payout. */
const paymentHold = async (tx: Tx, { purpose }: Payout): Promise<Hold | undefined> =>
  purpose === null || (await isPaymentFinal(tx, purpose)) ? undefined : { code: 'payment_not_final' }
