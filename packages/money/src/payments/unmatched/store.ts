import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type SqlBool, sql } from 'kysely'
import { openAccounts } from '../../ledger/index.ts'
import { type Purpose, parsePurpose } from '../purpose.ts'
import type { TransferKey, TransferState } from '../transfer.ts'

/** Final transfers of a payer that pay for nothing and still have money in suspense. */
export async function findUnclaimedFrom(
  db: Db | Tx,
  network: Network,
  payer: string,
): Promise<TransferKey[]> {
  const rows = await db
    .selectFrom('transfers as transfer')
    .innerJoin(openAccounts(db, ['suspense']).as('account'), (join) =>
      join
        .onRef('account.network', '=', 'transfer.network')
        .onRef('account.subject', '=', 'transfer.subject'),
    )
    .select(['transfer.reference', 'transfer.transfer_index'])
    .where('transfer.network', '=', network)
    .where('transfer.payer', '=', payer)
    .where('transfer.state', '=', 'final')
    .where('transfer.purpose', '=', '')
    .execute()
  return rows.map((row) => ({ network, reference: row.reference, index: row.transfer_index }))
}

/** Money of a transfer that has no purpose: unclaimed, or above the amount due. */
export interface UnmatchedMoney extends TransferKey {
  readonly account: string
  readonly kind: 'suspense' | 'surplus'
  /** Null when it is unknown, also for money in suspense beside a claim, which was recorded before transfers had indexes. */
  readonly payer: string | null
  readonly amount: Usdc
  readonly state: TransferState
  readonly happenedAt: Date
  /** What the transfer pays for; null while it is unclaimed. */
  readonly purpose: Purpose | null
}

/** Oldest first, after a position. */
export async function findUnmatched(
  db: Db,
  limit: number,
  after: { readonly at: Date; readonly name: string } | undefined,
): Promise<UnmatchedMoney[]> {
  const rows = await db
    .selectFrom('transfers as transfer')
    .innerJoin(openAccounts(db, ['suspense', 'surplus']).as('account'), (join) =>
      join
        .onRef('account.network', '=', 'transfer.network')
        .onRef('account.subject', '=', 'transfer.subject'),
    )
    .select(['account.id', 'account.kind', 'account.balance_micros'])
    .select(['transfer.network', 'transfer.reference', 'transfer.transfer_index', 'transfer.payer'])
    .select(['transfer.state', 'transfer.happened_at', 'transfer.purpose'])
    .$if(after !== undefined, (select) =>
      select.where(
        sql<SqlBool>`(transfer.happened_at, account.id) > (${after?.at}::timestamptz, ${after?.name})`,
      ),
    )
    .orderBy('transfer.happened_at')
    .orderBy('account.id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    account: row.id,
    kind: row.kind as UnmatchedMoney['kind'],
    network: row.network as Network,
    reference: row.reference,
    index: row.transfer_index,
    payer: row.kind === 'surplus' || row.purpose === '' ? row.payer : null,
    amount: usdc(row.balance_micros),
    state: row.state as TransferState,
    happenedAt: row.happened_at,
    purpose: row.purpose === '' ? null : parsePurpose(row.purpose),
  }))
}
