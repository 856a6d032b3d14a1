import { assert } from '@market/kernel/assert'
import { NETWORKS } from '@market/kernel/network'
import { normalizeReference } from '../payments/index.ts'
import type { Unmatched } from '../payouts/index.ts'

const ID = /^(suspense|surplus):([a-z]+-mainnet):([0-9A-Za-z]{64,88})$/

/** Unmatched money by its id, which is that of its ledger account. The contract has checked the form. */
export function parseUnmatchedId(id: string): Unmatched {
  const [, kind, name, reference] = ID.exec(id) ?? []
  const network = NETWORKS.find((one) => one === name)
  assert(network !== undefined && reference !== undefined, `${id} is the id of unmatched money`)
  return {
    network,
    reference: normalizeReference(network, reference),
    from: kind === 'surplus' ? 'surplus' : 'suspense',
  }
}

export const unmatchedIdOf = ({ network, reference, from }: Unmatched): string =>
  `${from}:${network}:${reference}`
