import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { nextState } from '@market/kernel/states'
import type { Selectable } from 'kysely'
import type { Approval, ApprovalId } from './approval.ts'
import { type ApprovalAction, TRANSITIONS } from './states.ts'

const approvalOf = rowReader<Selectable<Tables['approvals']>, Approval>()(columns('approvals'), {})

export async function insertApproval(tx: Tx, approval: Approval): Promise<Approval> {
  const row = await tx
    .insertInto('approvals')
    .values({
      id: approval.id,
      kind: approval.kind,
      payload: JSON.stringify(approval.payload),
      subject: approval.subject,
      summary: approval.summary,
      reason: approval.reason,
      proposer: approval.proposer,
      created_at: approval.createdAt,
      expires_at: approval.expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return approvalOf(row)
}

export async function lockApproval(tx: Tx, id: ApprovalId): Promise<Approval | undefined> {
  const row = await tx.selectFrom('approvals').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return row && approvalOf(row)
}

export async function saveDecision(
  tx: Tx,
  approval: Approval,
  action: ApprovalAction,
  decidedAt: Date,
  by: { readonly approver?: string; readonly rejectedBy?: string },
): Promise<Approval> {
  const row = await tx
    .updateTable('approvals')
    .set({
      state: nextState(TRANSITIONS, approval, action),
      decided_at: decidedAt,
      approver: by.approver ?? null,
      rejected_by: by.rejectedBy ?? null,
    })
    .where('id', '=', approval.id)
    .where('state', '=', approval.state)
    .returningAll()
    .executeTakeFirstOrThrow()
  return approvalOf(row)
}

/** The payloads of a kind that two operators approved for a subject. What was decided last comes first. */
export async function findApproved(db: Db | Tx, kind: string, subject: string): Promise<unknown[]> {
  const rows = await db
    .selectFrom('approvals')
    .select('payload')
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('state', '=', 'approved')
    .orderBy('decided_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ payload }) => payload)
}

/** The payload of a proposal of this kind, if two operators approved it. */
export async function findApprovedById(db: Db | Tx, kind: string, id: string): Promise<unknown> {
  const row = await db
    .selectFrom('approvals')
    .select('payload')
    .where('id', '=', id)
    .where('kind', '=', kind)
    .where('state', '=', 'approved')
    .executeTakeFirst()
  return row?.payload
}

/** Newest first. With a time, only those that can still be decided then. */
export async function findApprovals(
  db: Db,
  pendingAt: Date | undefined,
  page: NewestFirstPage,
): Promise<Approval[]> {
  const rows = await db
    .selectFrom('approvals')
    .selectAll()
    .$if(pendingAt !== undefined, (select) =>
      select.where('state', '=', 'pending').where('expires_at', '>', pendingAt ?? new Date(0)),
    )
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(approvalOf)
}
