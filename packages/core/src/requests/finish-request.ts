import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Needs } from '../context.ts'
import { type Lease, placeOf, type StoredResponse } from './request.ts'
import { finishRow } from './store.ts'

/** Keeps the answer for its key. Run in the effect's own transaction, so that one never stands without the other. */
export async function finishRequest(
  ctx: Needs<'vault'>,
  db: Db | Tx,
  lease: Lease,
  answer: StoredResponse,
): Promise<void> {
  const sealed = ctx.vault.seal(JSON.stringify(answer.body), placeOf(lease.request))
  if (await finishRow(db, lease, answer.status, sealed)) return
  throw new ApiError(
    'unavailable',
    'This request took too long and was taken over by its repetition. Ask again.',
    {
      code: 'request_taken_over',
      retryAfterSeconds: 1,
    },
  )
}
