import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { WithdrawAddress } from './withdraw-address.ts'

export async function insertWithdrawAddress(
  tx: Tx,
  agentId: AgentId,
  setBy: string,
  address: Omit<WithdrawAddress, 'storedAt' | 'notifiedAt'>,
): Promise<void> {
  await tx
    .insertInto('withdraw_addresses')
    .values({
      id: address.id,
      agent_id: agentId,
      address: address.address,
      set_by: setBy,
      created_at: address.createdAt,
      effective_at: address.effectiveAt,
      owner_signature: address.ownerSignature?.signature ?? null,
      owner_signed_at_ms: address.ownerSignature === null ? null : BigInt(address.ownerSignature.signedAtMs),
    })
    .execute()
}

/** The addresses that are not cancelled and can matter: the newest ones, newest first. */
export async function findWithdrawAddresses(db: Db | Tx, agentId: AgentId): Promise<WithdrawAddress[]> {
  const rows = await db
    .selectFrom('withdraw_addresses')
    .innerJoin('withdraw_delays', 'withdraw_delays.address_id', 'withdraw_addresses.id')
    .select([
      'id',
      'address',
      'created_at',
      'effective_at',
      'stored_at',
      'notified_at',
      'owner_signature',
      'owner_signed_at_ms',
    ])
    .where('agent_id', '=', agentId)
    .where('cancelled_at', 'is', null)
    .orderBy('stored_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_ADDRESSES)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    address: row.address,
    createdAt: row.created_at,
    effectiveAt: row.effective_at,
    storedAt: row.stored_at,
    notifiedAt: row.notified_at,
    ownerSignature:
      row.owner_signature === null
        ? null
        : { signature: row.owner_signature, signedAtMs: Number(row.owner_signed_at_ms) },
  }))
}

/** Two matter: the one in effect and a pending one. */
const MAX_ADDRESSES = 20

export async function cancelWithdrawAddress(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('withdraw_addresses').set({ cancelled_at: at }).where('id', '=', id).execute()
}

interface UnnotifiedAddress {
  readonly id: string
  readonly agentId: AgentId
  readonly address: string
}

/** Addresses whose owner the worker has not notified yet. */
export async function findUnnotified(db: Db, limit: number): Promise<UnnotifiedAddress[]> {
  const rows = await db
    .selectFrom('withdraw_delays')
    .innerJoin('withdraw_addresses', 'withdraw_addresses.id', 'withdraw_delays.address_id')
    .select(['id', 'agent_id', 'address'])
    .where('notified_at', 'is', null)
    .where('cancelled_at', 'is', null)
    .limit(limit)
    .execute()
  return rows.map((row) => ({ id: row.id, agentId: row.agent_id as AgentId, address: row.address }))
}

/** Returns false when another worker has started it. */
export async function startDelay(tx: Tx, id: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('withdraw_delays')
    .set({ notified_at: at })
    .where('address_id', '=', id)
    .where('notified_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
