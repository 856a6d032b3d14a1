import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { Tx } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { formatUsd, plus, type Usdc } from '@market/kernel/money'
import { isPaymentFinal } from '../payments/index.ts'
import { orderOf, type Payout } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { sumPromised, sumSince } from './store.ts'

/** Why the chain's own coin keeps a payout waiting, or undefined. Asked outside any transaction. */
export async function feeReason(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<string | undefined> {
  const [{ native }, balance] = await Promise.all([
    sender.estimateCost(orderOf(payout)),
    sender.nativeBalance(),
  ])
  const cap = ctx.caps.cost[payout.network]
  if (cap !== undefined && native > cap) return `Costs ${native} to send, above the cap of ${cap}`
  return balance < native ? 'The treasury has not enough coin for fees' : undefined
}

export const NOT_FINAL = 'The payment it is paid from is not final yet'

/** Money leaves only for what the chain can no longer take back. */
export const finalReason = async (tx: Tx, { purpose }: Payout): Promise<string | undefined> =>
  purpose === null || (await isPaymentFinal(tx, purpose)) ? undefined : NOT_FINAL

/** What may turn out to be another's money waits until they can no longer show it. */
export const earlyReason = ({ notBefore }: Payout, now: Date): string | undefined =>
  notBefore === null || notBefore <= now ? undefined : `It leaves no earlier than ${notBefore.toISOString()}`

/** Why the caps keep a payout waiting, or undefined. Asked under the network's lock, so that two cannot share a rest. */
export async function capReason(ctx: PayoutContext, tx: Tx, payout: Payout): Promise<string | undefined> {
  const { perPayout, perDay } = ctx.caps
  if (payout.amount > perPayout) return `Above the cap of ${formatUsd(perPayout)} USDC for one payout`
  const left = await sumSince(tx, payout.network, earlier(ctx.clock.now(), DAY))
  if (plus(left, payout.amount) > perDay) return `Above the cap of ${formatUsd(perDay)} USDC for a day`
  return undefined
}

/** What is under way is counted twice until it is settled, so this passes quickly most of the time. */
export const NOT_COVERED = 'The treasury has too little'

/**
 * Why the treasury's own money keeps a payout waiting, or undefined: it must hold this one beside all that was let
 * through and is not settled. What of that has left already is counted twice for a moment, which only makes it wait.
 */
export async function coverReason(tx: Tx, payout: Payout, balance: Usdc): Promise<string | undefined> {
  const promised = await sumPromised(tx, payout.network)
  if (balance >= promised + payout.amount) return undefined
  return `${NOT_COVERED}: it holds ${formatUsd(balance)} USDC, of which ${formatUsd(promised)} are promised`
}
