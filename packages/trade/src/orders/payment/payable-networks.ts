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
  return problemOn(
    network,
    await networksOf(ctx, db, order),
    `so the transfer was not used. To get it back, send POST /api/unmatched-transfers/suspense:${network}:${reference}/refund.`,
  )
}

/** The same before anything was paid. */
export async function requireNetwork(
  ctx: Needs<'clock'>,
  db: Db | Tx,
  order: Pick<Order, 'agentId'>,
  network: Network,
): Promise<void> {
  const problem = problemOn(network, await networksOf(ctx, db, order), 'so nothing was charged.')
  if (problem !== undefined) throw problem
}

function problemOn(
  network: Network,
  accepted: readonly Network[],
  consequence: string,
): ApiError | undefined {
  // fix: payable-network
  if (accepted.includes(network)) return undefined
  const others = accepted.length === 0 ? 'no network' : accepted.join(' or ')
  return new ApiError(
    'invalid',
    `The agent of this order cannot be paid on ${network}, ${consequence} Pay on ${others}.`,
    { code: 'network_not_accepted' },
  )
}
