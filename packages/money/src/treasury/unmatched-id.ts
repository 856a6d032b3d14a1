import { assert } from '@market/kernel/assert'
import { NETWORKS } from '@market/kernel/network'
import { normalizeReference, parseTransferName, type TransferKey, transferName } from '../payments/index.ts'
import type { Unmatched } from '../payouts/index.ts'

/** `network:transaction`, with `.index` of a later transfer of the transaction; the contract has checked the form. */
export function parseTransferId(id: string): TransferKey {
  const [name, transfer = ''] = id.split(':')
  const network = NETWORKS.find((one) => one === name)
  assert(network !== undefined, `${id} is the id of a transfer`)
  return { network, ...parseTransferName(normalizeReference(network, transfer)) }
}

/** Unmatched money by its id, which is that of its ledger account. The contract has checked the form. */
export function parseUnmatchedId(id: string): Unmatched {
  const from = id.startsWith('surplus:') ? 'surplus' : 'suspense'
  return { ...parseTransferId(id.slice(from.length + 1)), from }
}

export const unmatchedIdOf = (unmatched: Unmatched): string =>
  `${unmatched.from}:${unmatched.network}:${transferName(unmatched)}`
