import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'

export interface GasFigures {
  readonly network: Network
  /** How many more payments of buyers can be brought to the chain with what the gas account has. */
  readonly settlementsLeft: number
}

/** How long the gas lasts on each network; one whose nodes do not answer is left out. */
export async function gasFigures(ctx: Needs<'facilitators'>): Promise<GasFigures[]> {
  const asked = Object.values(ctx.facilitators).map(async (facilitator): Promise<GasFigures> => {
    const { balance, maxCostPerSettlement } = await facilitator.readGas()
    return { network: facilitator.network, settlementsLeft: Number(balance / maxCostPerSettlement) }
  })
  const told = await Promise.allSettled(asked)
  return told.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}
