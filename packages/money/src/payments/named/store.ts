import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { type Selectable, sql } from 'kysely'
import type { IntentStatus } from '../intents/intent.ts'
import type { PurposeKind } from '../purpose.ts'
import type { NamedTransaction } from './purpose-rule.ts'

/** A transaction that was named in a scope. Waited for again after a reorganization, it is still one. */
export interface NamedTransfer extends NamedTransaction {
  /** The id of its purpose. */
  readonly id: string
  readonly scope: string
  readonly request: unknown
  readonly status: IntentStatus
  /** As of the last check; null unless it is waited for and a block has it. */
  readonly confirmations: number | null
  readonly required: number | null
  readonly createdAt: Date
}

type Row = Pick<Selectable<Tables['payment_intents']>, 'network' | 'reference' | 'request' | 'created_at'> &
  Pick<NamedTransfer, 'id' | 'scope' | 'status' | 'confirmations' | 'required'>

const namedTransferOf = ({ created_at: createdAt, network, ...row }: Row): NamedTransfer => ({
  ...row,
  network: network as Network,
  createdAt,
})

interface Asked {
  readonly kind: PurposeKind
  readonly scope?: string
  readonly id?: string
  readonly named?: NamedTransaction
  readonly limit?: number
}

/** What was named, newest first: in a scope, or for a purpose. */
export async function findNamed(
  db: Db | Tx,
  { kind, scope, id, named, limit }: Asked,
): Promise<NamedTransfer[]> {
  const { rows } = await sql<Row>`
    select purpose_id as id, scope, network, reference, request, min(created_at) as created_at,
      case when bool_or(status = 'waiting') then 'waiting'
        when bool_or(status in ('failed', 'expired', 'cancelled')) then 'failed'
        when bool_or(status = 'confirmed') then 'confirmed' else 'refunded' end as status,
      max(confirmations) filter (where status = 'waiting') as confirmations,
      max(required_confirmations) filter (where status = 'waiting') as required
    from payment_intents where purpose_kind = ${kind} and scope is not null
      ${scope === undefined ? sql`` : sql`and scope = ${scope}`}
      ${id === undefined ? sql`` : sql`and purpose_id = ${id}`}
      ${named === undefined ? sql`` : sql`and network = ${named.network} and reference = ${named.reference}`}
    group by purpose_id, scope, network, reference, request
    order by min(created_at) desc, purpose_id desc ${limit === undefined ? sql`` : sql`limit ${limit}`}`.execute(
    db,
  )
  return rows.map(namedTransferOf)
}

/** The transaction that was named for a purpose. Queried by `kind` and `id`. */
export const namedReferences = sql`
  (select purpose_kind as kind, purpose_id as id, reference from payment_intents where scope is not null)`

/** One request names a transaction in a scope at a time, so that a repeated one finds it. */
export const lockScope = (
  tx: Tx,
  scope: string,
  { network, reference }: NamedTransaction,
): Promise<unknown> =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`named ${scope} ${network} ${reference}`}, 0))`.execute(
    tx,
  )
