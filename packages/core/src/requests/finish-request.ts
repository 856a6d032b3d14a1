import type { Db, Tx } from '@market/database/transact'
import { Refusal } from '@market/kernel/refusal'
import type { Needs } from '../context.ts'
import { type KeptAnswer, type Lease, placeOf } from './request.ts'
import { finishRow } from './store.ts'

/** Keeps the answer for its key. Run in the effect's own transaction, so that one never stands without the other. */
export async function finishRequest(
  ctx: Needs<'vault'>,
  db: Db | Tx,
  lease: Lease,
  answer: KeptAnswer,
): Promise<void> {
  const sealed = ctx.vault.seal(JSON.stringify(answer.body), placeOf(lease.request))
  if (await finishRow(db, lease, answer.status, sealed)) return
  throw new Refusal(
    'unavailable',
    'This request took too long and was taken over by its repetition. Ask again.',
    {
      code: 'request_taken_over',
      retryAfterSeconds: 1,
    },
  )
}
