import { createHash } from 'node:crypto'
import type { Tx } from '@market/database/transact'
import type { OwnerSignature } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { type AgentId, cellOf, type IdSource } from '@market/kernel/ids'
import { nameOfAsset } from './amount.ts'
import type { Task, WalletTransactionId } from './operation.ts'
import { hasWalletTransaction } from './store.ts'

const RANDOM_LENGTH = 16

interface Request {
  readonly agentId: AgentId
  readonly task: Task
  readonly ownerSignature: OwnerSignature | null
  /** Of the caller, its Idempotency-Key and the operation. */
  readonly keyDigest: string | undefined
}

/**
 * The id of a new operation. A request that is repeated because the database lost it gets the same id, which its transaction has on
 * the chain, when it has the same Idempotency-Key or the same signed time. A wallet creates each of its mints once.
 */
export async function newOperationId(ids: IdSource, tx: Tx, request: Request): Promise<WalletTransactionId> {
  const fresh = ids.next('wop')
  const source = sourceOf(request)
  if (source === undefined) return fresh
  const cell = cellOf(fresh)
  assert(cell !== undefined, `${fresh} has a cell`)
  const { agentId, task } = request
  const following = `wop_0_${cell}${base36Of(`${agentId}:${source}:${contentsOf(task)}`)}` as const
  // The key of an earlier request counts again after a day, and a mint that failed is asked for again.
  return (await hasWalletTransaction(tx, following)) ? fresh : following
}

function sourceOf({ keyDigest, ownerSignature, task: { kind } }: Request): string | undefined {
  if (keyDigest !== undefined) return `key ${keyDigest}`
  if (ownerSignature !== null) return `signed ${ownerSignature.signedAtMs}`
  return kind === 'launch' || kind === 'identity' ? 'mint' : undefined
}

/** What is done, so that a key that is used for something else makes another operation. */
function contentsOf(task: Task): string {
  switch (task.kind) {
    case 'send':
    case 'withdraw':
      return [task.kind, nameOfAsset(task.asset), task.to, task.isAll ? 'all' : String(task.amount)].join(' ')
    case 'export':
      return [task.kind, task.publicKey].join(' ')
    default:
      return JSON.stringify([task.kind, task.token.name, task.token.symbol, task.token.uri])
  }
}

const base36Of = (text: string): string =>
  (BigInt(`0x${createHash('sha256').update(text).digest('hex')}`) % 36n ** BigInt(RANDOM_LENGTH))
    .toString(36)
    .padStart(RANDOM_LENGTH, '0')
