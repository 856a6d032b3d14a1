import type { Needs } from '@market/core/context'
import { emitToBuyer } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import type { Order } from '@market/trade/orders'
import type { Generation } from './generation.ts'

/** Emits `workspace.generated` to the buyer, who reads the item in the workspace. */
export const emitGenerated = (
  ctx: Needs<'clock'>,
  tx: Tx,
  order: Order,
  { id, status }: Exclude<Generation, { status: 'pending' }>,
): Promise<bigint> =>
  emitToBuyer(ctx, tx, order, { event: 'workspace.generated', data: { deliverable_id: id, status } })
