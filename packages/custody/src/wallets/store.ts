import { isToken, type WalletAsset, type WalletCoin } from '@market/core/ports/agent-wallets'
import { runSweepCall } from '@market/core/queue'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { OwnerSignature } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import { nextState } from '@market/kernel/states'
import { type Insertable, type Selectable, sql } from 'kysely'
import { nameOfAsset } from './amount.ts'
import type {
  Task,
  WalletTransaction,
  WalletTransactionFailure,
  WalletTransactionId,
  WalletTransactionKind,
} from './operation.ts'
import { TRANSITIONS, type WalletTransactionAction, type WalletTransactionStatus } from './states.ts'

type Row = Selectable<Tables['wallet_transactions']>

function taskOf(row: Row): Task {
  const token = { name: row.token_name ?? '', symbol: row.token_symbol ?? '', uri: row.token_uri ?? '' }
  const kind = row.kind as WalletTransactionKind
  switch (kind) {
    case 'launch':
      return { kind, token, description: row.token_description ?? '', imageUrl: row.token_image_url ?? '' }
    case 'identity':
      return { kind, token }
    case 'export':
      return { kind, publicKey: row.public_key ?? '' }
    default:
      return {
        kind,
        asset: assetOf(row),
        to: row.destination ?? '',
        amount: row.amount === null ? null : BigInt(row.amount),
        isAll: row.is_all,
      }
  }
}

function columnsOf(task: Task): Partial<Insertable<Tables['wallet_transactions']>> {
  switch (task.kind) {
    case 'launch':
      return {
        ...tokenColumns(task.token),
        token_description: task.description,
        token_image_url: task.imageUrl,
      }
    case 'identity':
      return tokenColumns(task.token)
    case 'export':
      return { public_key: task.publicKey }
    default:
      return {
        asset: nameOfAsset(task.asset),
        asset_decimals: isToken(task.asset) ? task.asset.decimals : null,
        destination: task.to,
        amount: task.amount === null ? null : String(task.amount),
      }
  }
}

const assetOf = ({ asset, asset_decimals: decimals }: Row): WalletAsset =>
  decimals === null ? (asset as WalletCoin) : { mint: asset ?? '', decimals }

const tokenColumns = ({ name, symbol, uri }: Extract<Task, { kind: 'identity' }>['token']) => ({
  token_name: name,
  token_symbol: symbol,
  token_uri: uri,
})

const signatureOf = (row: Row): OwnerSignature | null =>
  row.owner_signature === null
    ? null
    : {
        wallet: row.owner_wallet ?? '',
        signature: row.owner_signature,
        signedAtMs: Number(row.owner_signed_at_ms),
      }

const transactionOf = (row: Row): WalletTransaction => ({
  id: row.id as WalletTransactionId,
  agentId: row.agent_id as AgentId,
  wallet: row.wallet,
  task: taskOf(row),
  requestedBy: row.requested_by,
  ownerSignature: signatureOf(row),
  status: row.status as WalletTransactionStatus,
  reference: row.reference,
  mint: row.mint,
  sealedExport: row.exported_key,
  failure: row.failure as WalletTransactionFailure | null,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

type NewWalletTransaction = Pick<
  WalletTransaction,
  'id' | 'agentId' | 'wallet' | 'task' | 'requestedBy' | 'ownerSignature' | 'createdAt'
>

export async function insertWalletTransaction(
  tx: Tx,
  operation: NewWalletTransaction,
): Promise<WalletTransaction> {
  const { task, ownerSignature: owner, createdAt } = operation
  const row = await tx
    .insertInto('wallet_transactions')
    .values({
      id: operation.id,
      agent_id: operation.agentId,
      wallet: operation.wallet,
      kind: task.kind,
      requested_by: operation.requestedBy,
      ...columnsOf(task),
      owner_wallet: owner?.wallet ?? null,
      owner_signature: owner?.signature ?? null,
      owner_signed_at_ms: owner === null ? null : BigInt(owner.signedAtMs),
      status: 'requested',
      created_at: createdAt,
      updated_at: createdAt,
      due_at: createdAt,
    })
    .returningAll()
    .returning(runSweepCall('advance-wallet-operations').as('job'))
    .executeTakeFirstOrThrow()
  return transactionOf(row)
}

export async function findWalletTransaction(
  db: Db | Tx,
  id: WalletTransactionId,
): Promise<WalletTransaction> {
  const row = await db.selectFrom('wallet_transactions').selectAll().where('id', '=', id).executeTakeFirst()
  assert(row !== undefined, `${id} is a wallet transaction`)
  return transactionOf(row)
}

export async function hasWalletTransaction(tx: Tx, id: WalletTransactionId): Promise<boolean> {
  const row = await tx.selectFrom('wallet_transactions').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/** Locks the row until the transaction ends. */
export async function lockWalletTransaction(tx: Tx, id: WalletTransactionId): Promise<WalletTransaction> {
  const row = await tx
    .selectFrom('wallet_transactions')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return transactionOf(row)
}

/** The operation that the wallet is busy with. */
export async function findActiveWalletTransaction(
  db: Db | Tx,
  agentId: AgentId,
): Promise<WalletTransaction | undefined> {
  const row = await db
    .selectFrom('wallet_transactions')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('status', 'in', ['requested', 'signed'])
    .executeTakeFirst()
  return row && transactionOf(row)
}

/** An operation of one of these agents that has not ended. */
export async function findActiveOf(
  tx: Tx,
  agentIds: readonly AgentId[],
): Promise<WalletTransaction | undefined> {
  if (agentIds.length === 0) return undefined
  const row = await tx
    .selectFrom('wallet_transactions')
    .selectAll()
    .where('agent_id', 'in', agentIds)
    .where('status', 'in', ['requested', 'signed'])
    .limit(1)
    .executeTakeFirst()
  return row && transactionOf(row)
}

/** The newest operation of the kind that did not fail. */
export async function findLastWalletTransaction(
  db: Db | Tx,
  agentId: AgentId,
  kind: WalletTransactionKind,
): Promise<WalletTransaction | undefined> {
  const row = await db
    .selectFrom('wallet_transactions')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('kind', '=', kind)
    .where('status', '<>', 'failed')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && transactionOf(row)
}

/** Newest first. */
export async function findWalletTransactions(
  db: Db,
  agentId: AgentId,
  { limit, after }: { readonly limit: number; readonly after: readonly [Date, string] | undefined },
): Promise<WalletTransaction[]> {
  const { rows } = await sql<Row>`
    select * from wallet_transactions where agent_id = ${agentId}
      and ${after === undefined ? sql`true` : sql`(created_at, id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by created_at desc, id desc limit ${limit}`.execute(db)
  return rows.map(transactionOf)
}

export async function findDue(db: Db, now: Date, limit: number): Promise<WalletTransactionId[]> {
  const { rows } = await sql<{ id: WalletTransactionId }>`
    select id from wallet_transactions where status in ('requested', 'signed') and due_at <= ${now}
    order by due_at, id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

interface WalletTransactionChange {
  readonly amount?: bigint
  readonly signedAt?: Date
  readonly reference?: string
  readonly mint?: string | null
  readonly sealedExport?: string
  readonly failure?: WalletTransactionFailure
}

/** Saves the next status of a locked operation. */
export async function saveWalletTransaction(
  tx: Tx,
  operation: WalletTransaction,
  action: WalletTransactionAction,
  change: WalletTransactionChange,
  at: Date,
): Promise<WalletTransaction> {
  const row = await tx
    .updateTable('wallet_transactions')
    .set({
      status: nextState(TRANSITIONS, { id: operation.id, state: operation.status }, action),
      ...(change.amount !== undefined && { amount: String(change.amount) }),
      ...(change.signedAt !== undefined && { signed_at: change.signedAt }),
      ...(change.reference !== undefined && { reference: change.reference }),
      ...(change.mint !== undefined && { mint: change.mint }),
      ...(change.sealedExport !== undefined && { exported_key: change.sealedExport }),
      ...(change.failure !== undefined && { failure: change.failure }),
      updated_at: at,
    })
    .where('id', '=', operation.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return transactionOf(row)
}

export async function saveDue(db: Db, id: WalletTransactionId, at: Date): Promise<void> {
  await db.updateTable('wallet_transactions').set({ due_at: at }).where('id', '=', id).execute()
}

/** The exported secret is sealed to its owner's key. It is deleted anyway once the owner had time to read it. */
export async function deleteExportsBefore(db: Db, before: Date): Promise<void> {
  await db
    .updateTable('wallet_transactions')
    .set({ exported_key: null })
    .where('exported_key', 'is not', null)
    .where('updated_at', '<', before)
    .execute()
}

/** What other operations signed of the asset since then, by the times of the worker: the api writes the other ones. */
export async function sumSigned(
  tx: Tx,
  { id, agentId }: Pick<WalletTransaction, 'id' | 'agentId'>,
  asset: WalletCoin,
  since: Date,
): Promise<bigint> {
  const { rows } = await sql<{ sum: string }>`
    select coalesce(sum(amount), 0)::text as sum from wallet_transactions
    where agent_id = ${agentId} and asset = ${asset} and id <> ${id} and status in ('signed', 'done')
      and signed_at >= ${since}`.execute(tx)
  return BigInt(rows[0]?.sum ?? '0')
}

/** Whether an operation of a server wallet creates this mint. */
export async function isMintOfWallet(db: Db | Tx, mint: string): Promise<boolean> {
  const row = await db
    .selectFrom('wallet_transactions')
    .select('id')
    .where('mint', '=', mint)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
