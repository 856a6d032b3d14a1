import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { BountyId, ClaimId, OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import type { Selectable } from 'kysely'
import type { Acceptance, AcceptanceId } from './acceptance.ts'

const acceptanceOf = (row: Selectable<Tables['bounty_acceptances']>): Acceptance => ({
  id: row.id as AcceptanceId,
  bountyId: row.bounty_id as BountyId,
  claimId: row.claim_id as ClaimId,
  network: row.network as Network,
  reference: row.reference,
  provenPayers: row.proven_payers,
  status: row.status as Acceptance['status'],
  orderId: row.order_id as OrderId | null,
  createdAt: row.created_at,
})

export async function insertAcceptance(tx: Tx, acceptance: Acceptance): Promise<void> {
  await tx
    .insertInto('bounty_acceptances')
    .values({
      id: acceptance.id,
      bounty_id: acceptance.bountyId,
      claim_id: acceptance.claimId,
      network: acceptance.network,
      reference: acceptance.reference,
      proven_payers: [...acceptance.provenPayers],
      status: acceptance.status,
      created_at: acceptance.createdAt,
    })
    .execute()
}

/** The bounty must be locked. */
export async function saveAcceptance(
  tx: Tx,
  { id }: Pick<Acceptance, 'id'>,
  { status, orderId }: { readonly status: Acceptance['status']; readonly orderId?: OrderId },
  at: Date,
): Promise<void> {
  await tx
    .updateTable('bounty_acceptances')
    .set({ status, order_id: orderId ?? null, ended_at: status === 'waiting' ? null : at })
    .where('id', '=', id)
    .execute()
}

/** Undefined when the transaction was never named for the bounty, or could not pay. */
export async function findAcceptance(
  db: Db | Tx,
  named: Pick<Acceptance, 'bountyId' | 'network' | 'reference'>,
): Promise<Acceptance | undefined> {
  const row = await db
    .selectFrom('bounty_acceptances')
    .selectAll()
    .where('bounty_id', '=', named.bountyId)
    .where('network', '=', named.network)
    .where('reference', '=', named.reference)
    .where('status', '<>', 'failed')
    .executeTakeFirst()
  return row && acceptanceOf(row)
}

export async function findAcceptanceById(tx: Tx, id: string): Promise<Acceptance> {
  const row = await tx
    .selectFrom('bounty_acceptances')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return acceptanceOf(row)
}

/** The newest that were named for a bounty. */
export async function findAcceptancesOf(db: Db, bountyId: BountyId, limit: number): Promise<Acceptance[]> {
  const rows = await db
    .selectFrom('bounty_acceptances')
    .selectAll()
    .where('bounty_id', '=', bountyId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(acceptanceOf)
}

/** The orders of bounties, by the bounty's id. */
export async function findOrdersOf(
  db: Db,
  bountyIds: readonly BountyId[],
): Promise<ReadonlyMap<string, OrderId>> {
  if (bountyIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('bounty_acceptances')
    .select(['bounty_id', 'order_id'])
    .where('bounty_id', 'in', [...bountyIds])
    .where('status', '=', 'accepted')
    .execute()
  return new Map(rows.map((row) => [row.bounty_id, row.order_id as OrderId]))
}
