import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { findAgentById, payableNetworks } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import type { Order, Payment } from '../order.ts'
import type { Status } from '../states.ts'

/** An order with the networks on which it can be paid: those on which its agent can be paid afterwards. */
export type Offered<S extends Status = Status> = Order<S> & { readonly payableOn: readonly Network[] }

export const isUnpaid = <O extends { readonly status: Status }>(
  order: O,
): order is Extract<O, { readonly status: 'quoted' | 'accepted' }> =>
  order.status === 'quoted' || order.status === 'accepted'

export async function withNetworks<S extends Status>(
  ctx: Needs<'clock'>,
  db: Db | Tx,
  order: Order<S>,
): Promise<Offered<S>> {
  // fix: offered-networks
  return { ...order, payableOn: isUnpaid(order) ? await networksOf(ctx, db, order) : [] }
}

const networksOf = async (
  ctx: Needs<'clock'>,
  db: Db | Tx,
  { agentId }: Pick<Order, 'agentId'>,
): Promise<Network[]> => payableNetworks(ctx, db, await findAgentById(db, agentId))

/** Why a payment cannot be accepted on its network; undefined when it can. */
export async function networkProblem(
  ctx: Needs<'clock'>,
  db: Db | Tx,
  order: Pick<Order, 'agentId'>,
  { network, reference }: Payment,
): Promise<ApiError | undefined> {
  const networks = await networksOf(ctx, db, order)
  // fix: payable-network
  if (networks.includes(network)) return undefined
  const others = networks.length === 0 ? 'no network' : networks.join(' or ')
  return new ApiError(
    'invalid',
    `The agent of this order cannot be paid on ${network}, so the transfer was not used. Pay on ${others}. To get the transfer back, send POST /api/unmatched-transfers/suspense:${network}:${reference}/refund.`,
    { code: 'network_not_accepted' },
  )
}
