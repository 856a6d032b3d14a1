import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'

/** The next nonce of the gas account, locked until the transaction ends. */
export async function assignNonce(
  tx: Tx,
  network: Network,
  account: string,
  minedNonce: bigint,
): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`
    insert into gas_nonces (network, account, next) values (${network}, ${account}, ${minedNonce} + 1)
    on conflict (network) do update set
      account = excluded.account,
      next = case when gas_nonces.account = excluded.account
        then greatest(gas_nonces.next, ${minedNonce}) + 1 else excluded.next end
    returning next`.execute(tx)
  const next = rows[0]?.next
  assert(next !== undefined, `${network} has a nonce`)
  return next - 1n
}

/** Stores a signed transaction, which is submitted until it is mined: an unused nonce blocks all later ones. */
export async function saveGasTransaction(
  tx: Tx,
  network: Network,
  nonce: bigint,
  bytes: string,
): Promise<void> {
  await sql`
    insert into gas_transactions (network, nonce, bytes) values (${network}, ${nonce}, ${bytes})
    on conflict (network, nonce) do update set bytes = excluded.bytes`.execute(tx)
}

/** The signed transaction of one nonce of a gas account. */
export interface GasTransaction {
  readonly nonce: bigint
  readonly bytes: string
}

/** Mined transactions can become unmined by a reorganization of this many. */
const REORGANIZED = 64n

/** Transactions that are not mined yet, oldest first. Deletes those that were mined long ago. */
export async function findUnmined(
  db: Db,
  network: Network,
  minedNonce: bigint,
  limit: number,
): Promise<GasTransaction[]> {
  await sql`delete from gas_transactions where network = ${network} and nonce < ${minedNonce - REORGANIZED}`.execute(
    db,
  )
  return db
    .selectFrom('gas_transactions')
    .select(['nonce', 'bytes'])
    .where('network', '=', network)
    .where('nonce', '>=', minedNonce)
    .orderBy('nonce')
    .limit(limit)
    .execute()
}

/** False when another process has replaced it meanwhile. */
export async function replaceGasTransaction(
  db: Db,
  network: Network,
  { nonce, bytes }: GasTransaction,
  better: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('gas_transactions')
    .set({ bytes: better })
    .where('network', '=', network)
    .where('nonce', '=', nonce)
    .where('bytes', '=', bytes)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
