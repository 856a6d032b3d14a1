import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import type { Payout } from '../payout.ts'

/** Whether another payout has this nonce. */
export async function isNonceTaken(tx: Tx, { id, network }: Payout, nonce: bigint): Promise<boolean> {
  const row = await tx
    .selectFrom('payouts')
    .select('id')
    .where('network', '=', network)
    .where('nonce', '=', nonce)
    .where('id', '<>', id)
    .executeTakeFirst()
  return row !== undefined
}

export interface NonceCounter {
  readonly treasury: string
  /** The nonce of the next payout; all lower ones are assigned. */
  readonly next: bigint
}

/** A counter is never deleted. It is read and written under the network's lock. */
export async function findNonceCounter(tx: Db | Tx, network: Network): Promise<NonceCounter | undefined> {
  const row = await tx
    .selectFrom('payout_nonces')
    .selectAll()
    .where('network', '=', network)
    .executeTakeFirst()
  return row && { treasury: row.treasury, next: row.next_nonce }
}

export async function saveNonceCounter(
  tx: Tx,
  network: Network,
  { treasury, next }: NonceCounter,
): Promise<void> {
  await tx
    .insertInto('payout_nonces')
    .values({ network, treasury, next_nonce: next })
    .onConflict((conflict) => conflict.column('network').doUpdateSet({ next_nonce: next }))
    .execute()
}
