import { setTimeout as pause } from 'node:timers/promises'
import { inBatches } from '@market/database/in-batches'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { earlier, later } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { type Resealed, renewedBy, reseal } from '../reseal.ts'
import {
  LEASE_MS,
  type Lease,
  placeOf,
  RETENTION_MS,
  type RequestKey,
  type StoredResponse,
} from './request.ts'
import {
  deleteRowsBefore,
  expireRow,
  findResponsesAfter,
  findRow,
  leaseRow,
  replaceResponses,
  saveResponse,
} from './store.ts'

type Acquired = { readonly lease: Lease } | { readonly replay: StoredResponse }

/** While a request with the same key runs, we wait this often before responding with 409. */
const WAITS_MS = [50, 100, 200, 400, 800]

/** Returns the lease to execute the request, or the response that is stored for its key. */
export async function acquireLease(
  ctx: Needs<'db' | 'clock' | 'vault'>,
  request: RequestKey,
): Promise<Acquired> {
  for (const wait of [...WAITS_MS, undefined]) {
    const now = ctx.clock.now()
    const attempt = await leaseRow(ctx.db, request, {
      now,
      leasedUntil: later(now, LEASE_MS),
      retainedSince: earlier(now, RETENTION_MS),
    })
    if (attempt !== undefined) return { lease: { request, attempt } }

    const row = await findRow(ctx.db, request)
    // Deleted between the two queries: try again at once.
    if (row === undefined) continue
    if (row.operation !== request.operation || !row.fingerprint.equals(request.fingerprint)) throw keyReused()
    if (row.state === 'done' && row.status !== null && row.response_sealed !== null) {
      const body: unknown = JSON.parse(await ctx.vault.open(row.response_sealed, placeOf(request)))
      return { replay: { status: row.status, body } }
    }
    if (wait !== undefined) await pause(wait)
  }
  throw new ApiError(
    'conflict',
    'A request with this Idempotency-Key is still running. Repeat the request in a second.',
    { code: 'request_in_progress', retryAfterSeconds: 1 },
  )
}

/** Stores the response in the transaction of the effect, so that neither is committed without the other. */
export async function storeResponse(
  ctx: Needs<'vault'>,
  db: Db | Tx,
  lease: Lease,
  response: StoredResponse,
): Promise<void> {
  const sealed = ctx.vault.seal(JSON.stringify(response.body), placeOf(lease.request))
  if (await saveResponse(db, lease, response.status, sealed)) return
  throw new ApiError(
    'unavailable',
    'This request took too long, and a repetition of it is being executed. Repeat it to get the response.',
    { code: 'request_taken_over', retryAfterSeconds: 1 },
  )
}

/** Frees the key for the next request, after one that changed nothing and whose response is not stored. */
export const releaseLease = (ctx: Needs<'db'>, lease: Lease): Promise<void> => expireRow(ctx.db, lease)

export const deleteOldRequests = ({ db, clock }: Needs<'db' | 'clock'>): Promise<number> => {
  const before = earlier(clock.now(), RETENTION_MS)
  return inBatches((limit) => deleteRowsBefore(db, before, limit))
}

/** Seals the stored responses with the vault's current key. */
export const resealResponses = (ctx: Needs<'db' | 'vault'>): Promise<Resealed> =>
  reseal({
    name: 'requests.response_sealed',
    placeOf,
    renew: renewedBy(ctx, placeOf),
    find: (after, limit) => findResponsesAfter(ctx.db, after, limit),
    replace: (changes) => replaceResponses(ctx.db, changes),
  })

export const keyReused = () =>
  new ApiError(
    'unprocessable',
    'This Idempotency-Key was already used for a different request. Use a new key.',
    { code: 'idempotency_key_reused' },
  )
