import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import {
  findTransfer,
  findUsedIndexes,
  type Purpose,
  type ReleaseContested,
  unclaimTransfer,
} from '@market/money/payments'
import { type Buyer, lockNamedOrder, releasePayment } from '../../orders/index.ts'
import { refunded } from '../errors.ts'

/**
 * An API key can pay an ordinary order with a transfer of its owner, who did not sign. Until it is paid out, the proof of
 * the wallet that paid decides: the order ends, and the transfer can be used again.
 */
export async function releaseOrder(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  named: {
    readonly network: Network
    readonly reference: string
    /** Undefined: any transfer of the transaction. */
    readonly index: number | undefined
    /** What the transfer is to pay for. */
    readonly purpose?: Purpose
    readonly payers: readonly string[]
    /** Who the transfer buys for next, in the same transaction. */
    readonly nextBuyers: readonly Buyer[]
  },
): ReturnType<ReleaseContested> {
  const { network, reference, payers, nextBuyers } = named
  const used = await findUsedIndexes(tx, network, reference)
  for (const index of used.filter((one) => named.index === undefined || one === named.index)) {
    const transfer = await findTransfer(tx, { network, reference, index })
    if (transfer?.purpose?.kind !== 'order' || transfer.purpose.id === named.purpose?.id) continue
    if (transfer.payer === null || !payers.includes(transfer.payer)) continue
    const status = await lockNamedOrder(tx, transfer.purpose.id)
    if (status === 'bound' || status === 'ended') continue
    const claimed = { ...transfer, purpose: transfer.purpose }
    const outcome = await releasePayment(ctx, tx, claimed, `wallet:${transfer.payer}`, nextBuyers)
    if (outcome === 'refunded') return refunded()
    assert(await unclaimTransfer(ctx, tx, transfer), `${reference} was not used in part`)
    return 'released'
  }
  return 'unchanged'
}
