import type { Needs } from '@market/core/context'
import { isSignedHere } from '@market/core/outgoing'
import type { Chain, Observation, TransferQuery } from '@market/core/ports/chain'
import { byFit } from '@market/core/ports/transfer-fit'
import { plus, ZERO } from '@market/kernel/money'
import { normalizeReference } from './reference.ts'
import { findRead } from './store.ts'

/**
 * Answers from the blocks that were read. Undefined when the chain must be asked: the transaction was not read yet, or no
 * recorded transfer fits. The logs of a block do not say who sent a transaction or what it carries.
 */
export async function findRecorded(
  { db }: Needs<'db'>,
  { network, confirmationsFor, ownPayers = [] }: Chain,
  query: TransferQuery,
): Promise<Observation | undefined> {
  const { payers, minAmount, notBefore, notAfter } = query
  if (payers === undefined || query.sentByPayer) return undefined
  const named = normalizeReference(network, query.reference)
  const read = await findRead(db, network, named)
  if (read === undefined) return undefined
  // A vault may pay from another contract than its own.
  // fix: sender-of-recorded
  if (ownPayers.length > 0 && (await isSignedHere(db, network, named)))
    return { kind: 'rejected', reason: 'own_transfer' }
  const used = read.transfers.flatMap(({ purpose, index }) => (purpose === null ? [] : index))
  const [found] = read.transfers
    .filter(({ payer, index }) => payers.includes(payer ?? '') && (query.index ?? index) === index)
    .toSorted(byFit({ ...query, used }))
  if (found === undefined || found.amount < minAmount) return undefined
  const { reference, index, amount, payer, block, happenedAt: at, state } = found
  const final = state === 'final'
  // One that a caller claimed is as that caller's node showed it.
  if (at < notBefore || at > notAfter || (found.purpose !== null && !final)) return undefined
  if (!final) {
    if (confirmationsFor === undefined) return undefined
    const { confirmations, transfers } = read
    const required = confirmationsFor(transfers.reduce((sum, one) => plus(sum, one.amount), ZERO))
    if (required === null || confirmations < required)
      return {
        kind: 'pending',
        reason: 'unconfirmed',
        depth: { confirmations, required, height: block.height },
      }
  }
  return { kind: 'ok', transfer: { reference, index, amount, payer, at, block, final, attachedData: null } }
}
