import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { findUnderWay, type PurchaseMetrics } from './store.ts'

/** Payments that were submitted and have not ended, by network. */
export const purchaseMetrics = (ctx: Needs<'db' | 'clock'>): Promise<PurchaseMetrics[]> =>
  findUnderWay(ctx.db, ctx.clock.now())

/** Below this number of settlements an operator must add gas. */
export const FEW_SETTLEMENTS = 200

export interface GasMetrics {
  readonly network: Network
  /** Of the gas account, in wei or lamports. */
  readonly balance: bigint
  /** How many more payments the gas account can submit. */
  readonly settlementsLeft: number
}

/** The gas of each network. A network whose nodes do not respond is left out. */
export async function gasMetrics(ctx: Needs<'facilitators'>): Promise<GasMetrics[]> {
  const queries = Object.values(ctx.facilitators).map(async (facilitator): Promise<GasMetrics> => {
    const { balance, maxCostPerSettlement } = await facilitator.readGas()
    return { network: facilitator.network, balance, settlementsLeft: Number(balance / maxCostPerSettlement) }
  })
  const results = await Promise.allSettled(queries)
  return results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}
