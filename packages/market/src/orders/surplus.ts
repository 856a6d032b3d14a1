import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { minus, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Needs } from '../context.ts'
import { surplus } from '../ledger/index.ts'
import { requestPayout, withdrawPayout } from '../payouts/index.ts'
import type { SeenTransfer } from '../ports/chain.ts'
import { type Core, type Order, purposeOf } from './order.ts'

/** What was paid too much goes back when it is more than sending it is worth. */
const WORTH_SENDING = usdc(100_000n)

/** By network too: an order that is paid anew after a reorganisation may be paid on another one. */
const surplusSubject = ({ id }: Pick<Core, 'id'>, network: Network): string => `${id}:surplus:${network}`

/** Decided with the payment itself; like every payout it waits until the payment is final. */
export async function returnSurplus(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  network: Network,
  { reference, amount, payer }: SeenTransfer,
): Promise<void> {
  const tooMuch = minus(amount, order.price)
  if (tooMuch <= WORTH_SENDING) return
  assert(payer !== null, `${order.id} was paid by a wallet`)
  await requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject: surplusSubject(order, network),
    payee: payer,
    amount: tooMuch,
    from: surplus(network, reference),
    purpose: purposeOf(order),
  })
}

/** The payment is undone, and with it what was too much of it. */
export const keepSurplus = (
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Pick<Core, 'id'>,
  { network, reference }: { readonly network: Network; readonly reference: string },
): Promise<void> =>
  withdrawPayout(ctx, tx, {
    kind: 'surplus',
    subject: surplusSubject(order, network),
    to: surplus(network, reference),
  })
