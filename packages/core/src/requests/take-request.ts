import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@market/kernel/api-error'
import { earlier, later } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { KEPT_MS, LEASE_MS, type Lease, placeOf, type RequestKey, type StoredResponse } from './request.ts'
import { findRow, takeRow } from './store.ts'

type Taken = { readonly lease: Lease } | { readonly replay: StoredResponse }

/** A twin that still runs is waited for this often before the caller is told to come back. */
const WAITS_MS = [50, 100, 200, 400, 800]

/** Takes the right to answer for a key, or gives the answer that was kept for it. */
export async function takeRequest(ctx: Needs<'db' | 'clock' | 'vault'>, request: RequestKey): Promise<Taken> {
  for (const wait of [...WAITS_MS, undefined]) {
    const now = ctx.clock.now()
    const attempt = await takeRow(ctx.db, request, {
      now,
      leasedUntil: later(now, LEASE_MS),
      keptSince: earlier(now, KEPT_MS),
    })
    if (attempt !== undefined) return { lease: { request, attempt } }

    const row = await findRow(ctx.db, request)
    // Released or swept between the two looks: try again at once.
    if (row === undefined) continue
    if (row.operation !== request.operation || !row.fingerprint.equals(request.fingerprint)) throw reused()
    if (row.state === 'done' && row.status !== null && row.response_sealed !== null) {
      const body: unknown = JSON.parse(await ctx.vault.open(row.response_sealed, placeOf(request)))
      return { replay: { status: row.status, body } }
    }
    if (wait !== undefined) await pause(wait)
  }
  throw new ApiError(
    'conflict',
    'A request with this Idempotency-Key is still running. Ask again in a moment.',
    {
      code: 'request_in_progress',
      retryAfterSeconds: 1,
    },
  )
}

const reused = () =>
  new ApiError(
    'unprocessable',
    'This Idempotency-Key was used with another request. Use a new key for a new request.',
    { code: 'idempotency_key_reused' },
  )
