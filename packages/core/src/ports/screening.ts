import type { Network } from '@market/kernel/network'

/** Knows the addresses that the marketplace may not pay or be paid by. */
export interface Screening {
  /** Those of the addresses that are listed. Throws when the list cannot be read, so that nothing is paid meanwhile. */
  findListed(network: Network, addresses: readonly string[]): Promise<readonly string[]>
}
