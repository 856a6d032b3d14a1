import type { Needs } from '../context.ts'
import { type Resealed, reseal } from '../reseal.ts'
import { placeOf } from './request.ts'
import { findAnswersAfter, replaceAnswers } from './store.ts'

/** Brings the answers kept for Idempotency-Keys under the vault's current key. */
export const resealRequests = (ctx: Needs<'db' | 'vault'>): Promise<Resealed> =>
  reseal(ctx, {
    name: 'requests.response_sealed',
    placeOf,
    find: (after, limit) => findAnswersAfter(ctx.db, after, limit),
    replace: (changes) => replaceAnswers(ctx.db, changes),
  })
