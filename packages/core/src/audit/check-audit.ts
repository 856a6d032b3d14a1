import { transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Needs } from '../context.ts'
import { record } from './record.ts'
import { findHead, findSeal, type Head } from './store.ts'
import { verifyAudit } from './verify-audit.ts'

export interface AuditCheck {
  readonly head: Head
  /** The first entry that is invalid or missing. */
  readonly brokenAt: bigint | undefined
}

/** Verifies the log. The head was read before, so the check covers it. */
export async function checkAudit(ctx: Needs<'db' | 'vault'>): Promise<AuditCheck> {
  const head = await findHead(ctx.db)
  return { head, brokenAt: (await verifyAudit(ctx))?.brokenAt }
}

/**
 * The newest seal of the log, or the seal of an earlier entry. Whoever stored an earlier head elsewhere sees with it
 * whether the log was written again since.
 */
export async function getAuditHead(ctx: Needs<'db'>, seq: bigint | undefined): Promise<Head> {
  const found = seq === undefined ? await findHead(ctx.db) : await findSeal(ctx.db, seq)
  if (found !== undefined) return found
  throw new ApiError('not_found', `The audit log has no entry ${seq}. Its newest one is without \`seq\`.`, {
    code: 'audit_entry_not_found',
  })
}

/** Records that an operator reads something private, before it is returned: there is no read without an entry. */
export const recordRead = (
  ctx: Needs<'db' | 'actor' | 'clock' | 'vault' | 'requestId'>,
  act: 'order.read' | 'messages.read' | 'contests.read',
  subject: string,
): Promise<void> => transact(ctx.db, (tx) => record(ctx, tx, { act, subject }))
