import type { Needs } from '@market/core/context'
import { isStopped, WALLET_SWITCH } from '@market/core/switches'
import { transact } from '@market/database/transact'
import type { WalletTransaction } from './operation.ts'
import { hasEnded } from './states.ts'

/** Names the switch that holds the operations which have not ended. */
export async function withHold(
  { db }: Needs<'db'>,
  operations: readonly WalletTransaction[],
): Promise<WalletTransaction[]> {
  if (operations.every(hasEnded)) return [...operations]
  const isHeld = await transact(db, (tx) => isStopped(tx, [WALLET_SWITCH]))
  return operations.map((one) => (isHeld && !hasEnded(one) ? { ...one, holdCode: WALLET_SWITCH } : one))
}
