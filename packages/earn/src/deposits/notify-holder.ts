import type { Needs } from '@market/core/context'
import { notify } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { recipientsOf } from '../pools/index.ts'
import type { Deposit } from './deposit.ts'

export async function notifyHolder(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { holder, id, poolKey }: Pick<Deposit, 'holder' | 'id' | 'poolKey'>,
  what: { readonly kind: string; readonly title: string; readonly body: string },
): Promise<void> {
  const data = { deposit_id: id, key: poolKey }
  for (const recipient of await recipientsOf(tx, holder)) await notify(ctx, tx, recipient, { ...what, data })
}
