import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { WithdrawAddress } from './withdraw-address.ts'

export async function insertWithdrawAddress(
  tx: Tx,
  agentId: AgentId,
  setBy: string,
  address: Omit<WithdrawAddress, 'storedAt'>,
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
    .select([
      'id',
      'address',
      'created_at',
      'effective_at',
      'stored_at',
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
