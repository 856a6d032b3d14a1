import { setTimeout as wait } from 'node:timers/promises'
import { record } from '@market/core/audit'
import { type Needs, nameOf } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { OwnerSignature } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import { nameOfAsset } from './amount.ts'
import { addressOf } from './get-funding.ts'
import { withHold } from './hold.ts'
import type { Task, WalletTransaction } from './operation.ts'
import { newOperationId } from './operation-id.ts'
import { hasEnded } from './states.ts'
import { findActiveWalletTransaction, findWalletTransaction, insertWalletTransaction } from './store.ts'

export type RequestContext = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'> & {
  /** Of the caller, its Idempotency-Key and the operation; absent without a key. */
  readonly keyDigest?: string | undefined
}

/**
 * Asks the worker for an operation of a wallet. The agent must be locked, so that of concurrent requests one is first.
 * A wallet does one thing at a time.
 */
export async function requestWalletTransaction(
  ctx: RequestContext,
  tx: Tx,
  agentId: AgentId,
  task: Task,
  ownerSignature: OwnerSignature | null = null,
): Promise<WalletTransaction> {
  const active = await findActiveWalletTransaction(tx, agentId)
  if (active !== undefined) throw walletBusy(active)
  const operation = await insertWalletTransaction(tx, {
    id: await newOperationId(ctx.ids, tx, {
      agentId,
      task,
      ownerSignature,
      keyDigest: ctx.keyDigest,
    }),
    agentId,
    wallet: await addressOf(tx, agentId),
    task,
    requestedBy: nameOf(ctx.actor),
    ownerSignature,
    createdAt: ctx.clock.now(),
  })
  await record(ctx, tx, {
    act: `wallets.${task.kind}`,
    subject: agentId,
    details: { operation_id: operation.id, ...auditDetails(task) },
  })
  return operation
}

function auditDetails(task: Task): Readonly<Record<string, unknown>> {
  switch (task.kind) {
    case 'send':
    case 'withdraw':
      return {
        asset: nameOfAsset(task.asset),
        to: task.to,
        amount: task.isAll ? 'all' : String(task.amount),
      }
    case 'export':
      return { public_key: task.publicKey }
    default:
      return { name: task.token.name, symbol: task.token.symbol }
  }
}

const POLL_MS = 250

/** Waits for the worker, and returns the operation as it is then. */
export async function awaitWalletTransaction(
  { db, resultWaitMs }: Needs<'db' | 'resultWaitMs'>,
  operation: WalletTransaction,
): Promise<WalletTransaction> {
  const until = performance.now() + resultWaitMs
  for (let seen = operation; ; seen = await findWalletTransaction(db, operation.id)) {
    const left = until - performance.now()
    if (hasEnded(seen)) return seen
    if (left <= 0) return (await withHold({ db }, [seen]))[0] ?? seen
    await wait(Math.min(POLL_MS, left))
  }
}

const walletBusy = ({ id, task }: WalletTransaction): ApiError =>
  new ApiError(
    'conflict',
    `The wallet of this agent is busy with ${id} (${task.kind}). Try again when GET /api/agents/{agent_id}/wallet/operations shows that it has ended.`,
    { code: 'wallet_busy', fields: { operation_id: id } },
  )
