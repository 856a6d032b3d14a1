import type { Db, Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { Payout, PayoutId } from '../payout.ts'

/** The partial indexes `payouts_due` and `payouts_failed` have these conditions, so each is queried by itself. */
const UNDER_WAY = sql`state in ('queued', 'held', 'nonce_assigned', 'signed')`
const FAILED = sql`state = 'failed'`

export interface NetworkCounts {
  readonly network: Network
  readonly waiting: number
  readonly oldest: Date | null
  readonly held: number
  readonly failed: number
}

/** Networks without a payout under way or failed have no entry. */
export async function countByNetwork(db: Db): Promise<NetworkCounts[]> {
  const { rows } = await sql<NetworkCounts>`
    select network, (count(*) filter (where state <> 'failed'))::integer as waiting,
      min(created_at) filter (where state <> 'failed') as oldest,
      (count(*) filter (where state = 'held'))::integer as held,
      (count(*) filter (where state = 'failed'))::integer as failed
    from (
      select network, state, created_at from payouts where ${UNDER_WAY}
      union all
      select network, state, created_at from payouts where ${FAILED}
    ) as open group by network`.execute(db)
  return rows
}

/** Ended payouts are not listed: their number only grows, and an operator cannot change them. */
export type ListedState = Exclude<Payout['state'], 'final' | 'withdrawn'>

export interface ListedPayout
  extends Omit<Payout, 'purpose' | 'nonce' | 'finalReference' | 'notifiedAgent' | 'notBefore'> {
  /** The final transaction or, before that, the last signature of this round. */
  readonly reference: string | null
}

interface Row {
  readonly id: PayoutId
  readonly network: Network
  readonly kind: Payout['kind']
  readonly subject: string
  readonly payee: string | null
  readonly amount_micros: bigint
  readonly state: Payout['state']
  readonly hold_code: Payout['holdCode']
  readonly hold_detail: string | null
  readonly reason: string | null
  readonly round: number
  readonly reference: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const payoutOf = (row: Row): ListedPayout => ({
  id: row.id,
  network: row.network,
  kind: row.kind,
  subject: row.subject,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  state: row.state,
  holdCode: row.hold_code,
  holdDetail: row.hold_detail,
  reason: row.reason,
  round: row.round,
  reference: row.reference,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const REFERENCE = sql`coalesce(payout.final_reference, (
  select reference from payout_signatures
  where payout_id = payout.id and round = payout.round order by n desc limit 1
)) as reference`

/** Oldest first, after a position. */
export async function findListedPayouts(
  db: Db,
  { states, network }: { states: readonly ListedState[]; network?: Network | undefined },
  limit: number,
  after: { readonly at: Date; readonly name: string } | undefined,
): Promise<ListedPayout[]> {
  const isWanted = sql`state = any(${states}::text[])
    and ${network === undefined ? sql`true` : sql`network = ${network}`}
    and ${after === undefined ? sql`true` : sql`(created_at, id) > (${after.at}::timestamptz, ${after.name})`}`
  const { rows } = await sql<Row>`
    select payout.*, ${REFERENCE} from (
      select * from payouts where ${FAILED} and ${isWanted}
      union all
      select * from payouts where ${UNDER_WAY} and ${isWanted}
      order by created_at, id limit ${limit}
    ) as payout order by payout.created_at, payout.id`.execute(db)
  return rows.map(payoutOf)
}

export async function findListedPayout(tx: Tx, id: PayoutId): Promise<ListedPayout | undefined> {
  const { rows } = await sql<Row>`
    select payout.*, ${REFERENCE} from payouts as payout where payout.id = ${id}`.execute(tx)
  return rows.map(payoutOf)[0]
}
