import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { findBought, saveMoved } from './store.ts'

/**
 * What a buyer signed can come to the chain by any transaction, once: after a reorganisation by one of ours that offered
 * more, or by a stranger's. Tells by which, when it is another than the one that the order stood on.
 */
export async function findReplacementTx(
  ctx: Needs<'db' | 'clock' | 'facilitators'>,
  orderId: OrderId,
  { network, reference }: { readonly network: Network; readonly reference: string },
): Promise<string | undefined> {
  const facilitator = ctx.facilitators[network]
  const bought = await findBought(ctx.db, orderId, network)
  if (facilitator === undefined || bought === undefined) return undefined
  const { payment, signedAtHeight } = bought
  const settlement = { reference, bytes: '', nonce: null, signedAtHeight, lastValidHeight: null }
  const outcome = await facilitator.observe(settlement, payment)
  if (outcome.kind !== 'arrived' || outcome.reference === reference) return undefined
  await saveMoved(ctx.db, bought.id, outcome.reference, ctx.clock.now())
  return outcome.reference
}
