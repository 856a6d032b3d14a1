import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { OwnerSignature } from './owner-signature.ts'
import type { PaidAddress } from './paid-addresses.ts'

export async function findPaidAddresses(db: Db | Tx, agentId: AgentId): Promise<PaidAddress[]> {
  const rows = await db
    .selectFrom('payout_addresses')
    .select(['network', 'address', 'effective_at'])
    .where('agent_id', '=', agentId)
    .execute()
  return rows.map((row) => ({
    network: row.network as Network,
    address: row.address,
    effectiveAt: row.effective_at,
  }))
}

/** Held until the commit: the addresses of an agent are decided one after another. */
export async function lockAddresses(tx: Tx, agentId: AgentId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payout-addresses:${agentId}`}, 0))`.execute(tx)
}

export async function savePaidAddress(
  tx: Tx,
  agentId: AgentId,
  { network, address, effectiveAt }: PaidAddress,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('payout_addresses')
    .values({ agent_id: agentId, network, address, seen_at: now, effective_at: effectiveAt })
    .onConflict((conflict) =>
      conflict
        .columns(['agent_id', 'network', 'address'])
        .doUpdateSet({ seen_at: now, effective_at: effectiveAt }),
    )
    .execute()
}

export async function deletePaidAddress(
  tx: Tx,
  agentId: AgentId,
  { network, address }: PaidAddress,
): Promise<void> {
  await tx
    .deleteFrom('payout_addresses')
    .where('agent_id', '=', agentId)
    .where('network', '=', network)
    .where('address', '=', address)
    .execute()
}

/** Changes that the worker has not seen yet, by agent. */
export async function findPayoutChanges(
  db: Db,
  now: Date,
  limit: number,
): Promise<ReadonlyMap<AgentId, readonly bigint[]>> {
  const rows = await db
    .selectFrom('payout_changes')
    .select(['id', 'agent_id'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  const byAgent = Map.groupBy(rows, (row) => row.agent_id as AgentId)
  return new Map([...byAgent].map(([agentId, changes]) => [agentId, changes.map(({ id }) => id)]))
}

export async function deletePayoutChanges(tx: Tx, ids: readonly bigint[]): Promise<void> {
  await tx.deleteFrom('payout_changes').where('id', 'in', ids).execute()
}

export async function postponePayoutChanges(db: Db, ids: readonly bigint[], until: Date): Promise<void> {
  await db.updateTable('payout_changes').set({ due_at: until }).where('id', 'in', ids).execute()
}

/** A signature of the owner wallet for a payout address, as it was signed. */
export interface PayoutConfirmation extends Omit<OwnerSignature, 'wallet'> {
  readonly address: string
}

export async function insertConfirmation(
  tx: Tx,
  agentId: AgentId,
  { address, signature, signedAtMs }: PayoutConfirmation,
): Promise<void> {
  await tx
    .insertInto('payout_confirmations')
    .values({ agent_id: agentId, address, signature, signed_at_ms: BigInt(signedAtMs) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function findConfirmations(db: Db, agentId: AgentId): Promise<PayoutConfirmation[]> {
  const rows = await db
    .selectFrom('payout_confirmations')
    .select(['address', 'signature', 'signed_at_ms'])
    .where('agent_id', '=', agentId)
    .execute()
  return rows.map((row) => ({
    address: row.address,
    signature: row.signature,
    signedAtMs: Number(row.signed_at_ms),
  }))
}

export async function deleteConfirmations(
  tx: Tx,
  agentId: AgentId,
  confirmations: readonly PayoutConfirmation[],
): Promise<void> {
  if (confirmations.length === 0) return
  await tx
    .deleteFrom('payout_confirmations')
    .where('agent_id', '=', agentId)
    .where(
      'signed_at_ms',
      'in',
      confirmations.map(({ signedAtMs }) => BigInt(signedAtMs)),
    )
    .execute()
}
