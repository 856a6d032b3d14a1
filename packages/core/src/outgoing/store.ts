import { currentEpoch } from '@market/database/epoch'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { SignedTransfer } from '../ports/payout-sender.ts'
import type { Action, Attempt } from './action.ts'

/** Oldest first. */
export async function findAttempts(db: Db | Tx, actionId: string): Promise<Attempt[]> {
  const rows = await db
    .selectFrom('outgoing_transactions')
    .selectAll()
    .where('action_id', '=', actionId)
    .orderBy('n')
    .execute()
  return rows.map(attemptOf)
}

/** Whether one of the wallets here signed a transaction. */
export async function isSignedHere(db: Db | Tx, network: Network, reference: string): Promise<boolean> {
  const row = await db
    .selectFrom('outgoing_transactions')
    .select('n')
    .where('network', '=', network)
    .where('reference', '=', reference)
    .executeTakeFirst()
  return row !== undefined
}

const attemptOf = (row: Selectable<Tables['outgoing_transactions']>): Attempt => ({
  n: row.n,
  account: row.account,
  reference: row.reference,
  bytes: row.bytes ?? '',
  nonce: row.nonce,
  lastValidHeight: row.last_valid_height,
  maxFeePerGas: row.max_fee_per_gas,
  maxPriorityFeePerGas: row.max_priority_fee_per_gas,
  createdAt: row.created_at,
})

/** Until the commit nobody else adds a transaction of the action. */
export async function lockAction(tx: Tx, actionId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`outgoing ${actionId}`}, 0))`.execute(tx)
}

export async function insertAttempt(
  tx: Tx,
  { id, kind, account }: Action,
  network: Network,
  attempt: Omit<Attempt, 'account'>,
): Promise<void> {
  await tx
    .insertInto('outgoing_transactions')
    .values({
      ...{ action_id: id, kind, account, network },
      n: attempt.n,
      reference: attempt.reference,
      bytes: attempt.bytes,
      nonce: attempt.nonce,
      last_valid_height: attempt.lastValidHeight,
      max_fee_per_gas: attempt.maxFeePerGas,
      max_priority_fee_per_gas: attempt.maxPriorityFeePerGas,
      created_at: attempt.createdAt,
    })
    .execute()
}

/** Adds a transaction that is on the chain and not in the database. */
export async function insertFound(
  tx: Tx,
  { id, kind, account }: Action,
  network: Network,
  found: Pick<SignedTransfer, 'reference' | 'nonce' | 'lastValidHeight'>,
  at: Date,
): Promise<void> {
  await lockAction(tx, id)
  const n = (await findAttempts(tx, id)).length + 1
  await tx
    .insertInto('outgoing_transactions')
    .values({
      ...{ action_id: id, kind, account, network, n },
      reference: found.reference,
      nonce: found.nonce,
      last_valid_height: found.lastValidHeight,
      created_at: at,
    })
    .onConflict((conflict) => conflict.column('reference').doNothing())
    .execute()
}

/** Whether the database is still the one that something was decided in. */
// fix: outgoing-epoch
export const isEpoch = async (tx: Tx, epoch: string): Promise<boolean> => (await currentEpoch(tx)) === epoch

/** The height that must be final before something is signed in this database epoch. */
export async function findHorizon(db: Db | Tx, network: Network, epoch: string): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('outgoing_horizons')
    .select('height')
    .where('network', '=', network)
    .where('database_epoch', '=', epoch)
    .executeTakeFirst()
  return row?.height
}

/** The first one of an epoch stays. */
export async function insertHorizon(
  tx: Tx,
  network: Network,
  epoch: string,
  height: bigint,
): Promise<bigint> {
  await sql`
    insert into outgoing_horizons (network, database_epoch, height) values (${network}, ${epoch}, ${height})
    on conflict (network) do update set database_epoch = excluded.database_epoch, height = excluded.height
    where outgoing_horizons.database_epoch <> excluded.database_epoch`.execute(tx)
  return (await findHorizon(tx, network, epoch)) ?? height
}

interface Place {
  readonly network: Network
  readonly account: string
}

/** Up to which nonce the account was compared with its chain. */
export async function findComparedNonces(db: Db | Tx, { network, account }: Place): Promise<bigint> {
  const row = await db
    .selectFrom('outgoing_accounts')
    .select('compared_nonces')
    .where('network', '=', network)
    .where('account', '=', account)
    .executeTakeFirst()
  return row?.compared_nonces ?? 0n
}

export async function saveComparedNonces(tx: Tx, place: Place, compared: bigint): Promise<void> {
  await tx
    .insertInto('outgoing_accounts')
    .values({ ...place, compared_nonces: compared })
    .onConflict((conflict) =>
      conflict.columns(['network', 'account']).doUpdateSet({
        compared_nonces: sql<bigint>`greatest(outgoing_accounts.compared_nonces, excluded.compared_nonces)`,
      }),
    )
    .execute()
}

/** The nonce after the last one that the account signed with. */
export async function findNextNonce(db: Db | Tx, { network, account }: Place): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`
    select coalesce(max(nonce) + 1, 0)::bigint as next from outgoing_transactions
    where network = ${network} and account = ${account}`.execute(db)
  return rows[0]?.next ?? 0n
}

/** What the account signed with these nonces and later ones. Until the commit nobody else compares the account. */
export async function lockNonces(
  tx: Tx,
  { network, account }: Place,
  from: bigint,
): Promise<{ readonly reference: string; readonly nonce: bigint }[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`outgoing ${network} ${account}`}, 0))`.execute(
    tx,
  )
  const { rows } = await sql<{ reference: string; nonce: bigint }>`
    select reference, nonce from outgoing_transactions
    where network = ${network} and account = ${account} and nonce >= ${from}`.execute(tx)
  return rows
}
