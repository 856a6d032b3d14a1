import type { Needs } from '@market/core/context'
import { NETWORKS, type Network } from '@market/kernel/network'

/** The networks on which a payment can be seen now; all of them, or of those that are asked for. */
export const openNetworks = ({ chains }: Needs<'chains'>, asked: readonly Network[] = NETWORKS): Network[] =>
  asked.filter((network) => chains[network] !== undefined)
