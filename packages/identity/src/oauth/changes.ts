import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { GrantChange } from './grant.ts'
import { upsertChange } from './store.ts'

/** Records a change in the transaction that makes it. */
export const recordChange = (
  ctx: Needs<'clock'>,
  tx: Tx,
  grantId: string,
  change: Omit<GrantChange, 'changedAt'>,
): Promise<void> => upsertChange(tx, grantId, { ...change, changedAt: ctx.clock.now() })
