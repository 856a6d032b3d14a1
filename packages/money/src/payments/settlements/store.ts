import type { Facilitator, Settlement } from '@market/core/ports/facilitator'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { sql } from 'kysely'
import type { Intent } from '../intents/intent.ts'

type GasAccount = Pick<Facilitator, 'network' | 'gasAccount'>

/**
 * The lowest nonce of the gas account that no settlement has, locked until the transaction ends. No nonce stays unused, whatever
 * a restored database forgot. When a forgotten transaction has it, only one is mined, and the other settlement is signed again.
 */
export async function lockFreeNonce(
  tx: Tx,
  { network, gasAccount }: GasAccount,
  minedNonce: bigint,
): Promise<bigint> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`gas:${network}:${gasAccount}`}, 0))`.execute(tx)
  const { rows } = await sql<{ nonce: bigint }>`
    with assigned as (
      select nonce from payment_intents
      where network = ${network} and gas_account = ${gasAccount} and nonce >= ${minedNonce}
    )
    select min(nonce) as nonce from (select ${minedNonce}::bigint as nonce union all select nonce + 1 from assigned) as next
    where nonce not in (select nonce from assigned)`.execute(tx)
  const nonce = rows[0]?.nonce
  assert(nonce !== undefined, `${network} has a free nonce`)
  return nonce
}

/** A signed transaction of the gas account. */
export interface GasTransaction {
  readonly id: Intent['id']
  readonly bytes: string
  readonly nonce: bigint
}

/** Transactions that are not mined, oldest first, also of payments that have ended: an unused nonce blocks all later ones. */
export async function findUnmined(
  db: Db,
  { network, gasAccount }: GasAccount,
  minedNonce: bigint,
  limit: number,
): Promise<GasTransaction[]> {
  const { rows } = await sql<GasTransaction>`
    select id, bytes, nonce from payment_intents
    where network = ${network} and gas_account = ${gasAccount} and nonce >= ${minedNonce}
    order by nonce limit ${limit}`.execute(db)
  return rows
}

/**
 * Stores what is sent instead of `bytes`. A payment that has ended gets no other nonce, and is named as before. False when another
 * process was faster.
 */
export async function replaceBytes(
  db: Db | Tx,
  { id, bytes }: Pick<GasTransaction, 'id' | 'bytes'>,
  next: Pick<Settlement, 'reference' | 'bytes' | 'gasAccount' | 'nonce'>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update payment_intents set bytes = ${next.bytes}, gas_account = ${next.gasAccount}, nonce = ${next.nonce},
      reference = case status when 'waiting' then ${next.reference} else reference end
    where id = ${id} and bytes = ${bytes} and (status = 'waiting' or nonce = ${next.nonce})`.execute(db)
  return numAffectedRows === 1n
}
