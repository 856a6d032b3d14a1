import type { Needs } from '@market/core/context'
import { DATABASE_EPOCH } from '@market/database/epoch'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { Guard } from '../outgoing/guard.ts'

const guardOf = (row: Selectable<Tables['payout_guards']> & { current_epoch: string }): Guard => ({
  network: row.network as Network,
  databaseEpoch: row.database_epoch,
  isCurrentEpoch: row.database_epoch === row.current_epoch,
  horizon: row.horizon,
  comparedAt: row.compared_at,
  isCounted: row.counted_epoch === null || row.counted_epoch === row.current_epoch,
  short: usdc(row.short_micros),
  shortSince: row.short_since,
  disagreement: row.disagreement,
})

/** A lock lasts until the commit: `shared` while payouts are authorized or signed, `exclusive` while readings are stored. */
export async function findGuard(
  db: Db | Tx,
  network: Network,
  lock?: 'shared' | 'exclusive',
): Promise<Guard | undefined> {
  const row = await db
    .selectFrom('payout_guards')
    .selectAll()
    .select(DATABASE_EPOCH.as('current_epoch'))
    .where('network', '=', network)
    .$if(lock === 'shared', (select) => select.forShare())
    .$if(lock === 'exclusive', (select) => select.forUpdate())
    .executeTakeFirst()
  return row && guardOf(row)
}

export async function findGuards(db: Db): Promise<Guard[]> {
  const rows = await db
    .selectFrom('payout_guards')
    .selectAll()
    .select(DATABASE_EPOCH.as('current_epoch'))
    .execute()
  return rows.map(guardOf)
}

/** Whether the treasury was counted in the current database epoch; payouts wait until it was. */
export const isCounted = async (db: Db, network: Network): Promise<boolean> =>
  (await findGuard(db, network))?.isCounted ?? true

/** Starts the comparison again. The shortage stays as it is. */
export async function beginEpoch(
  tx: Tx,
  {
    network,
    databaseEpoch,
    horizon,
    at,
  }: { network: Network; databaseEpoch: string; horizon: bigint; at: Date },
): Promise<void> {
  await tx
    .insertInto('payout_guards')
    .values({ network, database_epoch: databaseEpoch, horizon, updated_at: at })
    .onConflict((conflict) =>
      conflict
        .column('network')
        .doUpdateSet({ database_epoch: databaseEpoch, horizon, compared_at: null, updated_at: at })
        .where('payout_guards.database_epoch', '<>', databaseEpoch),
    )
    .execute()
}

/** That a reading of the chain has ended, and since when the network is compared; null while it is not. */
export async function saveReading(
  tx: Tx,
  network: Network,
  { comparedAt, at }: { readonly comparedAt: Date | null; readonly at: Date },
): Promise<void> {
  await tx
    .updateTable('payout_guards')
    .set({ updated_at: at, compared_at: comparedAt })
    .where('network', '=', network)
    .execute()
}

/** The shortage of a network is stored even before its first comparison. */
const NO_EPOCH = { database_epoch: 'none', horizon: 0n }

/**
 * While a treasury is short, no payout of its network is authorized; zero ends that. `short_since` is when it began. The
 * providers agreed on it, so it ends a disagreement.
 */
export async function setShortage(
  { clock }: Needs<'clock'>,
  tx: Tx,
  network: Network,
  short: bigint,
): Promise<void> {
  const at = clock.now()
  await tx
    .insertInto('payout_guards')
    .values({
      network,
      ...NO_EPOCH,
      short_micros: short,
      short_since: short === 0n ? null : at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.column('network').doUpdateSet((set) => ({
        // What was read in an earlier epoch says nothing about payouts that the database has lost.
        counted_epoch: sql`case when payout_guards.compared_at is null or payout_guards.database_epoch <> ${DATABASE_EPOCH}
          then payout_guards.counted_epoch else ${DATABASE_EPOCH} end`,
        disagreement: null,
        short_micros: short,
        short_since: short === 0n ? null : set.fn.coalesce('payout_guards.short_since', set.val(at)),
      })),
    )
    .execute()
}

/** While the providers disagree whether money is missing, no payout of the network is authorized. */
export async function setDisagreement(
  { clock }: Needs<'clock'>,
  tx: Tx,
  network: Network,
  disagreement: string,
): Promise<void> {
  await tx
    .insertInto('payout_guards')
    .values({ network, ...NO_EPOCH, disagreement, updated_at: clock.now() })
    .onConflict((conflict) => conflict.column('network').doUpdateSet({ disagreement }))
    .execute()
}
