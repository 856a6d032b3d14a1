import type { Needs } from '@market/core/context'
import type { SignedUntil } from '@market/core/ports/chain'
import { DATABASE_EPOCH } from '@market/database/epoch'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Alive, Guard } from '../outgoing/guard.ts'

const aliveOf = (row: Selectable<Tables['payout_guards']>): Alive | null =>
  row.alive_until === null || row.alive_height === null || row.claims_known_until === null
    ? null
    : { until: row.alive_until, height: row.alive_height, claimsKnownUntil: row.claims_known_until }

const guardOf = (row: Selectable<Tables['payout_guards']> & { current_epoch: string }): Guard => ({
  network: row.network as Network,
  databaseEpoch: row.database_epoch,
  isCurrentEpoch: row.database_epoch === row.current_epoch,
  horizon: row.horizon,
  alive: aliveOf(row),
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

interface Epoch {
  readonly network: Network
  readonly databaseEpoch: string
  readonly horizon: bigint
  readonly alive: SignedUntil | undefined
  readonly at: Date
}

/**
 * Starts the comparison again. The shortage stays as it is. Where an earlier epoch was compared, it can have signed what is
 * lost. When what an epoch before that signed is alive too, the claims that were known then are known now, and no later ones.
 */
export async function beginEpoch(
  tx: Tx,
  { network, databaseEpoch, horizon, alive, at }: Epoch,
): Promise<void> {
  const epoch = { database_epoch: databaseEpoch, horizon, updated_at: at }
  await tx
    .insertInto('payout_guards')
    .values({ network, ...epoch })
    .onConflict((conflict) =>
      conflict
        .column('network')
        .doUpdateSet({
          ...epoch,
          compared_at: null,
          // fix: epoch-opens-window
          ...(alive !== undefined && {
            alive_until: ifKnown(sql`${alive.until}::timestamptz`),
            alive_height: ifKnown(sql`${alive.height}::bigint`),
            claims_known_until: ifKnown(
              sql`coalesce(payout_guards.claims_known_until, least(payout_guards.read_at, now()))`,
            ),
          }),
        })
        .where('payout_guards.database_epoch', '<>', databaseEpoch),
    )
    .execute()
}

/** Null before the first reading: then nothing was ever signed. */
const ifKnown = <T>(value: RawBuilder<unknown>) =>
  sql<T>`case when payout_guards.read_at is not null then ${value} end`

/**
 * What earlier epochs signed has expired, when a final block is later; all blocks up to it were read. It stays alive while the
 * chain shows that something was paid which this database does not know, until an operator has decided about that.
 */
export async function endAlive(tx: Tx, guard: Guard): Promise<void> {
  const { network, alive } = guard
  if (alive === null) return
  // fix: window-ends-in-final-block
  if (!(await isFinalAfter(tx, network, alive.until))) return
  // fix: unknown-payment-extends-window
  if (await hasUnknownPayment(tx, guard)) return
  await tx
    .updateTable('payout_guards')
    .set({ alive_until: null, alive_height: null, claims_known_until: null })
    .where('network', '=', network)
    .execute()
}

const isFinalAfter = async (tx: Tx, network: Network, at: Date): Promise<boolean> =>
  (await tx
    .selectFrom('followed_networks')
    .select('network')
    .where('network', '=', network)
    .where('final_at', '>', at)
    .executeTakeFirst()) !== undefined

/** The last block of the network up to which everything was decided; undefined before the first. */
export const findFinalHeight = async (db: Db, network: Network): Promise<bigint | undefined> =>
  (
    await db
      .selectFrom('followed_networks')
      .select('final_height')
      .where('network', '=', network)
      .executeTakeFirst()
  )?.final_height

/** A final payment since the epoch began, whose payout is not signed or final, and that was not written off. */
async function hasUnknownPayment(tx: Tx, { network, horizon }: Guard): Promise<boolean> {
  const { rows } = await sql`
    select from outgoing_transfers as transfer
    where network = ${network} and block_height > ${horizon} and is_final and written_off_at is null
      and not exists (
        select from payouts
        where mark = transfer.mark and network = transfer.network and state in ('signed', 'final'))
    limit 1`.execute(tx)
  return rows.length > 0
}

/** Longer than an authorization is valid. */
const LONGEST_ALIVE = sql`interval '32 minutes'`

/** EVM: until when what earlier epochs signed can be executed; before the first reading in this one, the longest that can be. */
export async function findLostUntil(
  db: Db | Tx,
): Promise<{ readonly network: Network; readonly end: Date }[]> {
  const { rows } = await sql<{ network: Network; end: Date }>`
    select network, "end" from (
      select network, case database_epoch when ${DATABASE_EPOCH} then alive_until else now() + ${LONGEST_ALIVE} end as "end"
      from payout_guards where read_at is not null and network <> 'solana-mainnet') as guard
    where "end" is not null`.execute(db)
  return rows
}

/** That a reading of the chain has ended, and since when the network is compared; null while it is not. */
export async function saveReading(
  tx: Tx,
  network: Network,
  { comparedAt, at }: { readonly comparedAt: Date | null; readonly at: Date },
): Promise<void> {
  await tx
    .updateTable('payout_guards')
    .set({ updated_at: at, compared_at: comparedAt, read_at: sql`now()` })
    .where('network', '=', network)
    .execute()
}

/** The shortage of a network is stored even before its first comparison. */
export const NO_EPOCH = 'none'
const NOT_COMPARED = { database_epoch: NO_EPOCH, horizon: 0n }

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
      ...NOT_COMPARED,
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
    .values({ network, ...NOT_COMPARED, disagreement, updated_at: clock.now() })
    .onConflict((conflict) => conflict.column('network').doUpdateSet({ disagreement }))
    .execute()
}
