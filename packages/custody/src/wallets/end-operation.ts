import { type ApprovalRule, findApproved } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ownerRecipients } from '@market/core/notifications'
import { findAttempts } from '@market/core/outgoing'
import type { ShownTransaction } from '@market/core/ports/agent-wallets'
import type { Db, Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { later } from '@market/kernel/clock'
import { textOf } from './amount.ts'
import { GIVE_UP_MS, type WalletTransaction, type WalletTransactionId } from './operation.ts'
import { hasEnded } from './states.ts'
import { findWalletTransaction, hasWalletTransaction } from './store.ts'
import { requireReader, type WalletServices } from './wallet-context.ts'

const KIND = 'end_wallet_operation'

/** How two operators end an operation that the nodes can neither finish nor prove dead. */
export interface OperationEnd {
  readonly id: WalletTransactionId
  /** The transaction that took effect; null when none did. */
  readonly reference: string | null
}

type Ctx = Needs<'db' | 'clock'> & Pick<WalletServices, 'wallets'>

/** The worker ends it, unless the chain shows an end by then: it alone writes operations. */
export const endWalletOperation: ApprovalRule<Ctx, OperationEnd> = {
  /** What the nodes show of each signed transaction. Rejects what contradicts it. */
  async observe(ctx, { id, reference }) {
    const attempts = await findAttempts(ctx.db, id)
    const references = attempts.map((one) => one.reference)
    const asked =
      reference === null || references.includes(reference) ? references : [...references, reference]
    const { finalHeight, transactions } = await requireReader(ctx).showTransactions(asked)
    // fix: end-not-against-chain
    rejectContradiction({ id, reference }, transactions)
    const alive = attempts.find(({ lastValidHeight }) => (lastValidHeight ?? 0n) >= finalHeight)
    if (alive !== undefined)
      throw new ApiError(
        'conflict',
        `${shorten(alive.reference)} of ${id} can be executed up to height ${alive.lastValidHeight}, and height ${finalHeight} is final. Propose it later.`,
      )
    const shown = transactions.map((one) => `${shorten(one.reference)} ${one.status}`)
    return `At final height ${finalHeight} the nodes show: ${shown.length === 0 ? 'no signed transaction' : shown.join(', ')}`
  },

  async check(ctx, tx, { id, reference }) {
    const operation = await requireStuck(ctx, tx, id)
    const isSigned = (await findAttempts(tx, id)).some((one) => one.reference === reference)
    const effect =
      reference === null
        ? 'failed, without any effect'
        : `done by ${reference}, which the database ${isSigned ? 'signed' : 'does not know'}`
    return {
      subject: id,
      summary: `end the wallet operation ${id} (${describe(operation)}) as ${effect}`,
      recipients: ownerRecipients(await findAgentById(tx, operation.agentId)),
    }
  },

  async execute(_ctx, tx, { id, reference }) {
    const { agentId } = await findWalletTransaction(tx, id)
    const details = { operation_id: id, outcome: reference === null ? 'failed' : 'done', reference }
    return { act: 'wallets.end_approved', subject: agentId, details }
  },
}

/** An operation ends by itself within minutes, or when it is given up. */
async function requireStuck(
  { clock }: Needs<'clock'>,
  tx: Tx,
  id: WalletTransactionId,
): Promise<WalletTransaction> {
  if (!(await hasWalletTransaction(tx, id)))
    throw new ApiError('not_found', `There is no wallet operation ${id}.`)
  const operation = await findWalletTransaction(tx, id)
  const { status, task, createdAt } = operation
  if (hasEnded(operation) || task.kind === 'export')
    throw new ApiError(
      'conflict',
      `The wallet operation ${id} is ${task.kind}, ${status}. It needs no operator.`,
    )
  const since = later(createdAt, GIVE_UP_MS)
  if (clock.now() < since)
    throw new ApiError(
      'conflict',
      `The wallet operation ${id} is less than an hour old, and may still end by itself. Propose it after ${since.toISOString()}.`,
    )
  return operation
}

function rejectContradiction(
  { id, reference }: OperationEnd,
  transactions: readonly ShownTransaction[],
): void {
  const against = transactions.find((one) =>
    one.reference === reference ? one.status === 'failed' : ['final', 'not_final'].includes(one.status),
  )
  if (against === undefined) return
  throw new ApiError(
    'conflict',
    `The nodes show that ${against.reference} of ${id} is ${against.status}, so it cannot be ended in this way. Wait until the worker ends it.`,
  )
}

function describe({ task }: WalletTransaction): string {
  if (task.kind !== 'send' && task.kind !== 'withdraw') return task.kind
  const amount = task.amount === null ? 'everything' : textOf(task.asset, task.amount)
  return `${task.kind} of ${amount} to ${task.to}`
}

const shorten = (reference: string): string => `${reference.slice(0, 12)}…`

/** What two operators decided about the operation, if they did. */
export async function findEnd(db: Db, id: WalletTransactionId): Promise<OperationEnd | undefined> {
  const [payload] = (await findApproved(db, KIND, id)) as { tx_signature?: string }[]
  return payload && { id, reference: payload.tx_signature ?? null }
}
