import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { upsertChange } from './store.ts'

/** Something that a connected program changed, so that users can check it after the connection has ended. */
export interface GrantChange {
  /** The id of the operation. */
  readonly operation: string
  /** The id of what was changed. */
  readonly subject: string
  /** The names of the fields that were sent. */
  readonly fields: readonly string[]
  /** The last time. */
  readonly changedAt: Date
}

/** Records a change in the transaction that makes it. */
export const recordChange = (
  ctx: Needs<'clock'>,
  tx: Tx,
  grantId: string,
  change: Omit<GrantChange, 'changedAt'>,
): Promise<void> => upsertChange(tx, grantId, { ...change, changedAt: ctx.clock.now() })
