import type { Needs } from '@market/core/context'
import { readAtOnce } from '@market/database/transact'
import { type NextCursor, newestFirst, type PageRequest, textField } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import {
  findPayoutsOfAgent,
  type NetworkAmount,
  type Payout,
  sumPaidOut,
  sumPending,
} from '@market/money/payouts'
import { sumInEscrow } from '@market/trade/orders'

export interface Balance {
  /** Earned and not final yet: the payout waits, is being sent or has failed. */
  readonly pending: Usdc
  /** The agent's part of paid orders that have not ended. */
  readonly inEscrow: Usdc
  /** Sent, and final on the chain. */
  readonly paidOut: Usdc
}

export type Balances = Readonly<Record<Network, Balance>>

/** What an agent has earned, by network. All of it is read at one moment, so that no order counts twice or not at all. */
export const getBalances = (ctx: Needs<'db'>, agentId: AgentId): Promise<Balances> =>
  readAtOnce(ctx.db, async (tx) => {
    const pending = await sumPending(tx, agentId)
    const paidOut = await sumPaidOut(tx, agentId)
    const inEscrow = await sumInEscrow(tx, agentId)
    return Object.fromEntries(
      NETWORKS.map((network) => [
        network,
        {
          pending: sumOn(network, pending),
          inEscrow: sumOn(network, inEscrow),
          paidOut: sumOn(network, paidOut),
        },
      ]),
    ) as Balances
  })

const sumOn = (network: Network, amounts: readonly NetworkAmount[]): Usdc =>
  amounts.reduce((sum, one) => (one.network === network ? usdc(sum + one.amount) : sum), ZERO)

const CURSOR = newestFirst('agent-payouts', textField(/^pay_[0-9a-z]{32}$/))

/** The payouts of an agent's earnings, newest first. */
export async function listEarnings(
  ctx: Needs<'db'>,
  agentId: AgentId,
  { limit, cursor }: PageRequest,
): Promise<{ readonly payouts: readonly Payout[]; readonly nextCursor: NextCursor }> {
  const found = await findPayoutsOfAgent(ctx.db, agentId, { limit: limit + 1, after: CURSOR.decode(cursor) })
  const { rows, nextCursor } = CURSOR.pageOf(found, limit)
  return { payouts: rows, nextCursor }
}
