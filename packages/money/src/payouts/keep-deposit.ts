import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, fees, post, suspense } from '../ledger/index.ts'
import { finalArrival } from './final-arrival.ts'

/** What the platform itself sent to its treasury is its own: from suspense to the fees. */
export async function keepDeposit(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, reference }: { network: Network; reference: string },
): Promise<void> {
  await finalArrival(tx, network, reference)
  const from = suspense(network, reference)
  const amount = usdc(await balanceOf(tx, from))
  if (amount === 0n) throw new ApiError('conflict', 'Nothing of this transfer is in suspense')
  await post(ctx, tx, {
    key: `deposit.kept:${network}:${reference}`,
    reason: 'deposit.kept',
    subject: reference,
    network,
    moves: [{ from, to: fees(network), amount }],
  })
}
