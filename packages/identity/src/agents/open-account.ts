import type { Needs } from '@market/core/context'
import { addStatistics } from '@market/core/statistics'
import type { Tx } from '@market/database/transact'
import { type AccountChange, type IdentityClaims, saveAccount } from '../accounts/index.ts'
import { saveReopened } from './store.ts'

/** Saves the claims of the identity provider. The agents of a user who comes back after deleting the account are open again. */
export async function openAccount(
  ctx: Needs<'clock' | 'signatures'>,
  tx: Tx,
  profile: IdentityClaims,
): Promise<AccountChange> {
  const change = await saveAccount(ctx, tx, profile)
  if (change.isNew)
    await addStatistics(tx, { name: 'agents', amount: await saveReopened(tx, profile.userId) })
  return change
}
