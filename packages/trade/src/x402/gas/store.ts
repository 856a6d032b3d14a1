import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'

/** The next nonce of the account that pays the gas, held until the transaction ends. */
export async function takeNonce(tx: Tx, network: Network, account: string, counted: bigint): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`
    insert into gas_nonces (network, account, next) values (${network}, ${account}, ${counted} + 1)
    on conflict (network) do update set
      account = excluded.account,
      next = case when gas_nonces.account = excluded.account
        then greatest(gas_nonces.next, ${counted}) + 1 else excluded.next end
    returning next`.execute(tx)
  const next = rows[0]?.next
  assert(next !== undefined, `${network} has a nonce`)
  return next - 1n
}

/** What an account that pays gas has signed: sent until it is mined, for a nonce that is never used blocks all later ones. */
export async function keepGasTransaction(
  tx: Tx,
  network: Network,
  nonce: bigint,
  bytes: string,
): Promise<void> {
  await sql`
    insert into gas_transactions (network, nonce, bytes) values (${network}, ${nonce}, ${bytes})
    on conflict (network, nonce) do update set bytes = excluded.bytes`.execute(tx)
}

/** What was signed at one nonce of an account that pays gas. */
export interface GasTransaction {
  readonly nonce: bigint
  readonly bytes: string
}

/** So many that were counted may come back when blocks are taken back. */
const REORGANISED = 64n

/** Those that the chain has not counted yet, oldest first; what it has counted is forgotten. */
export async function takeUnmined(
  db: Db,
  network: Network,
  counted: bigint,
  limit: number,
): Promise<GasTransaction[]> {
  await sql`delete from gas_transactions where network = ${network} and nonce < ${counted - REORGANISED}`.execute(
    db,
  )
  return db
    .selectFrom('gas_transactions')
    .select(['nonce', 'bytes'])
    .where('network', '=', network)
    .where('nonce', '>=', counted)
    .orderBy('nonce')
    .limit(limit)
    .execute()
}

/** False when another process has put other bytes there meanwhile. */
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
