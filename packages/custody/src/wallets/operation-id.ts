import { createHash } from 'node:crypto'
import type { Tx } from '@market/database/transact'
import type { OwnerSignature } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { type AgentId, cellOf, type IdSource } from '@market/kernel/ids'
import type { WalletTransactionId } from './operation.ts'
import { hasWalletTransaction } from './store.ts'

const RANDOM_LENGTH = 16

interface Request {
  readonly agentId: AgentId
  readonly ownerSignature: OwnerSignature | null
  /** Of the request and its Idempotency-Key. */
  readonly requestDigest: string | undefined
}

/**
 * The id of a new operation. It follows from what the owner signed or from the Idempotency-Key: a request that is repeated because
 * the database lost it gets the same id, which its transaction has on the chain.
 */
export async function newOperationId(
  ids: IdSource,
  tx: Tx,
  { agentId, ownerSignature, requestDigest }: Request,
): Promise<WalletTransactionId> {
  const fresh = ids.next('wop')
  const source = ownerSignature === null ? requestDigest : String(ownerSignature.signedAtMs)
  if (source === undefined) return fresh
  const cell = cellOf(fresh)
  assert(cell !== undefined, `${fresh} has a cell`)
  const following = `wop_0_${cell}${base36Of(`${agentId}:${source}`)}` as const
  // The key of an earlier request counts again after a day.
  return (await hasWalletTransaction(tx, following)) ? fresh : following
}

const base36Of = (text: string): string =>
  (BigInt(`0x${createHash('sha256').update(text).digest('hex')}`) % 36n ** BigInt(RANDOM_LENGTH))
    .toString(36)
    .padStart(RANDOM_LENGTH, '0')
