import { record, recordRead } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { rejectOwnCase, revokeAccess } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import {
  cursorAmong,
  cursorCodec,
  dateField,
  idField,
  type NextCursor,
  type PageRequest,
} from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { COUNT_LIMIT } from '@market/kernel/waiting'
import { findTransferFor, lockTransferFor } from '@market/money/payments'
import { refundRegistration } from '../paid-registration.ts'
import type { PurchaseId, PurchaseIn } from '../purchase.ts'
import { REGISTRATION } from '../quote.ts'
import { findPurchaseById, lockPurchase } from '../store.ts'
import { paidFor } from './end-purchase.ts'
import { findContests, findNamings, type Naming, saveConfirmed, saveRefunded } from './store.ts'

/** A contested purchase with everything that its arbiter has to know. */
export interface ContestedPurchase {
  readonly purchase: PurchaseIn<'done'>
  readonly contestedAt: Date
  /** When it is refunded without a signature; null when an arbiter decides. */
  readonly endsAt: Date | null
  /** When and by whom the transfer was made, as the chain shows it. */
  readonly transfer: { readonly happenedAt: Date; readonly payer: string | null; readonly amount: Usdc }
  /** All namings, in the order of their times. The first one bought what is contested. */
  readonly namings: readonly Naming[]
}

const CONTESTS = cursorCodec<{ at: Date; id: string }>('contests', { at: dateField, id: idField('hir') })

/** Purchases whose payment two requests named, the oldest contest first. Briefs of buyers are in it. */
export async function listContests(
  ctx: Needs<'db' | 'actor' | 'clock' | 'vault' | 'requestId'>,
  { limit, cursor }: PageRequest,
): Promise<{ readonly contests: readonly ContestedPurchase[]; readonly nextCursor: NextCursor }> {
  const found = await findContests(ctx.db, { limit: limit + 1, after: CONTESTS.decode(cursor) })
  const { rows, nextCursor } = CONTESTS.pageOf(found, limit, ({ contestedAt: at, id }) => ({ at, id }))
  const contests = await Promise.all(
    rows.map(async ({ id, contestedAt, endsAt }) => {
      const purchase = await findPurchaseById(ctx.db, id)
      if (purchase?.state !== 'done') return []
      const transfer = await findTransferFor(ctx.db, paidFor(purchase))
      if (transfer === undefined) return []
      const first = { ...purchase, at: purchase.createdAt }
      return [
        { purchase, contestedAt, endsAt, transfer, namings: [first, ...(await findNamings(ctx.db, id))] },
      ]
    }),
  )
  if (contests.length > 0) await recordRead(ctx, 'contests.read', 'contests')
  const shownAt = contests.flatMap((shown, at) => (shown.length > 0 ? [at] : []))
  return { contests: contests.flat(), nextCursor: cursorAmong(nextCursor, rows.length, shownAt) }
}

/** How many contests are open, up to `COUNT_LIMIT`, and which of them wait for an arbiter. */
export async function countContests({ db }: Needs<'db'>) {
  const found = await findContests(db, { limit: COUNT_LIMIT })
  const waiting = found.filter(({ endsAt }) => endsAt === null)
  return { count: found.length, forArbiter: waiting.length, oldest: waiting[0]?.contestedAt ?? null }
}

/** An arbiter decides about a contested registration: it stands, or its payment is refunded to the payer. */
export function resolveRegistration(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>,
  id: PurchaseId,
  outcome: 'release' | 'refund',
  note: string,
): Promise<{ readonly id: PurchaseId; readonly outcome: 'release' | 'refund' }> {
  return ctx.transact(async (tx) => {
    const found = await findPurchaseById(tx, id)
    const isContested = (await findContests(tx, { limit: 1, id })).length > 0
    if (found?.subject !== REGISTRATION || !isContested)
      throw new ApiError('not_found', `There is no contested registration ${JSON.stringify(id)}.`, {
        code: 'contest_not_found',
      })
    const purchase = await lockPurchase(tx, id)
    if (purchase.state !== 'done') throw new Error(`${id} is done`)
    await rejectOwnCase(tx, ctx.actor, [`agent:${purchase.resultId}`, `wallet:${purchase.payer}`])
    const now = ctx.clock.now()
    if (outcome === 'release') await saveConfirmed(tx, id, now)
    else {
      const transfer = await lockTransferFor(tx, paidFor(purchase))
      if (transfer?.purpose?.kind !== 'registration') throw new Error(`${id} has its payment`)
      await revokeAccess(ctx, tx, purchase.resultId as AgentId)
      await refundRegistration(ctx, tx, { ...transfer, purpose: transfer.purpose })
      await saveRefunded(tx, id, now)
    }
    await record(ctx, tx, { act: `registration.${outcome}`, subject: id, details: { outcome, note } })
    return { id, outcome }
  })
}
