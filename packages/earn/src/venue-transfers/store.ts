import { runSweepCall } from '@market/core/queue'
import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { nextState } from '@market/kernel/states'
import { type Selectable, sql } from 'kysely'
import { TRANSITIONS, USES_WALLET, type VenueTransferAction } from './states.ts'
import type { VenueTransfer, VenueTransferId } from './venue-transfer.ts'

const venueTransferOf = rowReader<Selectable<Tables['venue_transfers']>, VenueTransfer>()(
  columns('venue_transfers', 'amount_micros', 'asked_shares', 'venue_shares', 'assets_micros'),
  {
    amount: (row) => (row.amount_micros === null ? null : usdc(row.amount_micros)),
    askedShares: (row) => (row.asked_shares === null ? null : BigInt(row.asked_shares)),
    venueShares: (row) => (row.venue_shares === null ? null : BigInt(row.venue_shares)),
    assets: (row) => (row.assets_micros === null ? null : usdc(row.assets_micros)),
  },
)

export async function insertVenueTransfer(
  tx: Tx,
  transfer: Pick<VenueTransfer, 'id' | 'kind' | 'poolKey' | 'network' | 'amount' | 'askedShares'>,
  at: Date,
): Promise<VenueTransfer> {
  const row = await tx
    .insertInto('venue_transfers')
    .values({
      id: transfer.id,
      kind: transfer.kind,
      pool_key: transfer.poolKey,
      network: transfer.network,
      amount_micros: transfer.amount,
      asked_shares: transfer.askedShares === null ? null : String(transfer.askedShares),
      state: transfer.kind === 'deploy' ? 'funding' : 'withdrawing',
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .returning(runSweepCall('advance-earn-moves').as('job'))
    .executeTakeFirstOrThrow()
  return venueTransferOf(row)
}

export async function findVenueTransfer(db: Db | Tx, id: string): Promise<VenueTransfer | undefined> {
  const row = await db.selectFrom('venue_transfers').selectAll().where('id', '=', id).executeTakeFirst()
  return row && venueTransferOf(row)
}

export async function lockVenueTransfer(tx: Tx, id: VenueTransferId): Promise<VenueTransfer> {
  const row = await tx
    .selectFrom('venue_transfers')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  assert(row !== undefined, `${id} is a venue transfer`)
  return venueTransferOf(row)
}

/** The venue transfers that are under way or held, oldest first: of several that wait for the wallet, the oldest gets it. */
export async function findUnended(db: Db): Promise<VenueTransfer[]> {
  const rows = await db
    .selectFrom('venue_transfers')
    .selectAll()
    .where('state', 'not in', ['done', 'failed'])
    .orderBy('created_at')
    .execute()
  return rows.map(venueTransferOf)
}

/** The venue transfer that has used the wallet of a network last. Until the commit no other venue transfer begins to use it. */
export async function lockWallet(tx: Tx, network: Network): Promise<VenueTransfer | undefined> {
  await sql`select pg_advisory_xact_lock(hashtext(${`earn wallet ${network}`}))`.execute(tx)
  const { rows } = await sql<Selectable<Tables['venue_transfers']>>`
    select * from venue_transfers where network = ${network} and state <> 'funding'
    order by state = any(${[...USES_WALLET]}::text[]) desc, updated_at desc limit 1`.execute(tx)
  const [row] = rows
  return row && venueTransferOf(row)
}

/** The newest recall of a pool. */
export async function findRecall(db: Db | Tx, poolKey: string): Promise<VenueTransfer | undefined> {
  const row = await db
    .selectFrom('venue_transfers')
    .selectAll()
    .where('pool_key', '=', poolKey)
    .where('kind', '=', 'recall')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && venueTransferOf(row)
}

/** Whether a recall of a pool is under way or held: what it redeems is not known. */
export async function isBeingRecalled(db: Db | Tx, poolKey: string): Promise<boolean> {
  const state = (await findRecall(db, poolKey))?.state
  return state === 'withdrawing' || state === 'held'
}

/** Whether the final blocks of the network were read since the transfer is held: its transaction was final then. */
export async function wasReadSince(
  tx: Tx,
  { network, updatedAt }: Pick<VenueTransfer, 'network' | 'updatedAt'>,
): Promise<boolean> {
  const row = await tx
    .selectFrom('followed_networks')
    .select('confirmed_at')
    .where('network', '=', network)
    .executeTakeFirst()
  return row !== undefined && row.confirmed_at !== null && row.confirmed_at > updatedAt
}

/** The deploys of a pool that finished last. One at a time is under way, so at most the newest has no shares of the pool yet. */
export async function findLastDeploys(tx: Tx, poolKey: string): Promise<VenueTransfer[]> {
  const rows = await tx
    .selectFrom('venue_transfers')
    .selectAll()
    .where('pool_key', '=', poolKey)
    .where('kind', '=', 'deploy')
    .where('state', '=', 'done')
    .orderBy('updated_at', 'desc')
    .limit(5)
    .execute()
  return rows.map(venueTransferOf)
}

interface VenueTransferChange {
  readonly problem?: string
  readonly venueShares?: bigint
  readonly assets?: Usdc
  readonly reference?: string
}

const LONGEST_PROBLEM = 300

/** Saves the next state of a locked venue transfer. */
export async function saveVenueTransfer(
  tx: Tx,
  transfer: VenueTransfer,
  action: VenueTransferAction,
  change: VenueTransferChange,
  at: Date,
): Promise<VenueTransfer> {
  const { problem, venueShares, assets, reference } = change
  const row = await tx
    .updateTable('venue_transfers')
    .set({
      state: nextState(TRANSITIONS, transfer, action),
      updated_at: at,
      ...(problem !== undefined && { problem: problem.slice(0, LONGEST_PROBLEM) }),
      ...(venueShares !== undefined && { venue_shares: String(venueShares) }),
      ...(assets !== undefined && { assets_micros: assets }),
      ...(reference !== undefined && { reference }),
    })
    .where('id', '=', transfer.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return venueTransferOf(row)
}
