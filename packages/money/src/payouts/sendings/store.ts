import type { SeenSending } from '@market/core/ports/chain'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { PayoutId } from '../payout.ts'
import type { Gate } from './gate.ts'
import type { Sending, Sighting } from './sending.ts'

/**
 * Another after a restart, a recovery to an earlier moment or a promoted replica (the server's start), after a restore
 * into another database or the same one (the database and the table), and after the table was filled anew (its file).
 */
export const LIFE = sql<string>`(select concat_ws('/', extract(epoch from pg_postmaster_start_time()), database.oid,
  'payouts'::regclass::oid, pg_relation_filenode('payouts'))
  from pg_database as database where database.datname = current_database())`

export async function currentLife(db: Db): Promise<string> {
  const { rows } = await sql<{ life: string }>`select ${LIFE} as life`.execute(db)
  return rows[0]?.life ?? ''
}

/** With a lock, until the commit: shared by those who let payouts through, alone for those who write what they read. */
export async function findGate(
  db: Db | Tx,
  network: Network,
  lock?: 'shared' | 'alone',
): Promise<Gate | undefined> {
  const row = await db
    .selectFrom('payout_gates')
    .selectAll()
    .select(LIFE.as('life_now'))
    .where('network', '=', network)
    .$if(lock === 'shared', (select) => select.forShare())
    .$if(lock === 'alone', (select) => select.forUpdate())
    .executeTakeFirst()
  return (
    row && {
      network,
      life: row.life,
      isThisLife: row.life === row.life_now,
      horizon: row.horizon,
      position: row.position,
      comparedAt: row.compared_at,
      readAt: row.updated_at,
      isCounted: row.counted_life === null || row.counted_life === row.life_now,
      short: usdc(row.short_micros),
    }
  )
}

/** What was read stays read, and what is short stays short; only the comparison begins anew. */
export async function beginLife(
  tx: Tx,
  gate: { network: Network; life: string; horizon: bigint; at: Date },
): Promise<void> {
  const { network, life, horizon, at } = gate
  await tx
    .insertInto('payout_gates')
    .values({ network, life, horizon, updated_at: at })
    .onConflict((conflict) =>
      conflict
        .column('network')
        .doUpdateSet({ life, horizon, compared_at: null, updated_at: at })
        .where('payout_gates.life', '<>', life),
    )
    .execute()
}

export async function saveGate(
  tx: Tx,
  network: Network,
  change: { position: string | null } | { readAt: Date; comparedAt: Date | null },
): Promise<void> {
  const set =
    'position' in change
      ? { position: change.position }
      : { updated_at: change.readAt, compared_at: change.comparedAt }
  await tx.updateTable('payout_gates').set(set).where('network', '=', network).execute()
}

/** Of a network that nobody has compared yet, the shortage is written down all the same. */
const NO_LIFE = { life: 'none', horizon: 0n }

export async function saveShortage(tx: Tx, network: Network, short: bigint, at: Date): Promise<void> {
  await tx
    .insertInto('payout_gates')
    .values({
      network,
      ...NO_LIFE,
      short_micros: short,
      short_since: short === 0n ? null : at,
      counted_life: LIFE,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.column('network').doUpdateSet((set) => ({
        counted_life: LIFE,
        short_micros: short,
        short_since: short === 0n ? null : set.fn.coalesce('payout_gates.short_since', set.val(at)),
      })),
    )
    .execute()
}

/** What is final stays as it is; the rest is as it was seen last, for it may have moved to another block. */
export async function saveSendings(
  tx: Tx,
  network: Network,
  sendings: readonly SeenSending[],
  at: Date,
): Promise<void> {
  if (sendings.length === 0) return
  await tx
    .insertInto('sendings')
    .values(
      sendings.map((sending) => ({
        network,
        reference: sending.reference,
        payout_id: sending.payoutId,
        payee: sending.payee,
        amount_micros: sending.amount,
        nonce: sending.nonce,
        block_height: sending.block.height,
        block_hash: sending.block.hash,
        happened_at: sending.at,
        is_final: sending.final,
        created_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['network', 'reference'])
        .doUpdateSet((set) => ({
          amount_micros: set.ref('excluded.amount_micros'),
          block_height: set.ref('excluded.block_height'),
          block_hash: set.ref('excluded.block_hash'),
          happened_at: set.ref('excluded.happened_at'),
          is_final: set.ref('excluded.is_final'),
        }))
        .where('sendings.is_final', '=', false),
    )
    .execute()
}

/** Those in blocks up to the final one that a reading to the end did not show: a reorganisation took them back. */
export async function removeGone(
  tx: Tx,
  network: Network,
  finalHeight: bigint,
  shown: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('sendings')
    .where('network', '=', network)
    .where('is_final', '=', false)
    .where('block_height', '<=', finalHeight)
    .where('reference', '<>', sql<string>`all(${shown}::text[])`)
    .execute()
}

const sendingOf = (row: Selectable<Tables['sendings']>): Sending => ({
  network: row.network as Network,
  reference: row.reference,
  payoutId: row.payout_id,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  nonce: row.nonce,
  at: row.happened_at,
  block: { height: row.block_height, hash: row.block_hash },
  final: row.is_final,
  bookedAt: row.booked_at,
})

export async function findSightings(db: Db | Tx, id: PayoutId): Promise<Sighting[]> {
  const rows = await db
    .selectFrom('sendings')
    .leftJoin('payout_signatures as signature', (join) =>
      join
        .onRef('signature.network', '=', 'sendings.network')
        .onRef('signature.reference', '=', 'sendings.reference')
        .onRef('signature.payout_id', '=', 'sendings.payout_id'),
    )
    .selectAll('sendings')
    .select('signature.round as named_in')
    .where('sendings.payout_id', '=', id)
    .orderBy('sendings.block_height')
    .execute()
  return rows.map((row) => ({ ...sendingOf(row), namedIn: row.named_in }))
}

export async function lockSending(tx: Tx, network: Network, reference: string): Promise<Sending | undefined> {
  const row = await tx
    .selectFrom('sendings')
    .selectAll()
    .where('network', '=', network)
    .where('reference', '=', reference)
    .forUpdate()
    .executeTakeFirst()
  return row && sendingOf(row)
}

export async function saveBooked(tx: Tx, { network, reference }: Sending, at: Date): Promise<void> {
  await tx
    .updateTable('sendings')
    .set({ booked_at: at })
    .where('network', '=', network)
    .where('reference', '=', reference)
    .execute()
}

/** How many of the nonces from one up to another are used by payments that are payouts, or that somebody explained. */
export async function countExplained(tx: Tx, network: Network, from: bigint, upTo: bigint): Promise<bigint> {
  const row = await tx
    .selectFrom('sendings')
    .select(sql<bigint>`count(distinct nonce)`.as('count'))
    .where('network', '=', network)
    .where('nonce', '>=', from)
    .where('nonce', '<', upTo)
    .where((where) => where.or([where('payout_id', 'is not', null), where('booked_at', 'is not', null)]))
    .executeTakeFirstOrThrow()
  return row.count
}
