import { assert } from '@market/kernel/assert'
import { NETWORKS } from '@market/kernel/network'
import { normalizeReference, parseTransferName, transferName } from '../payments/index.ts'
import type { Unmatched } from '../payouts/index.ts'

const ID = /^(suspense|surplus):([a-z]+-mainnet):([0-9A-Za-z]{64,88}(?:\.[0-9]{1,4})?)$/

/** Unmatched money by its id, which is that of its ledger account. The contract has checked the form. */
export function parseUnmatchedId(id: string): Unmatched {
  const [, kind, networkName, transfer] = ID.exec(id) ?? []
  const network = NETWORKS.find((one) => one === networkName)
  assert(network !== undefined && transfer !== undefined, `${id} is the id of unmatched money`)
  return {
    network,
    ...parseTransferName(normalizeReference(network, transfer)),
    from: kind === 'surplus' ? 'surplus' : 'suspense',
  }
}

export const unmatchedIdOf = (unmatched: Unmatched): string =>
  `${unmatched.from}:${unmatched.network}:${transferName(unmatched)}`
