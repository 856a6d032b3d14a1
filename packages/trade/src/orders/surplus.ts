import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { surplus } from '@market/money/ledger'
import { returnSurplus, withdrawPayout } from '@market/money/payouts'
import { type Core, type Order, purposeOf } from './order.ts'

/** By network too: an order that is paid anew after a reorganisation may be paid on another one. */
const surplusSubject = ({ id }: Pick<Core, 'id'>, network: Network): string => `${id}:surplus:${network}`

/** Goes back to who paid it, with the payment itself. */
export const giveSurplusBack = (
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  network: Network,
  seen: IncomingTransfer,
): Promise<void> => {
  const subject = surplusSubject(order, network)
  return returnSurplus(ctx, tx, { network, subject, purpose: purposeOf(order), due: order.price }, seen)
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
