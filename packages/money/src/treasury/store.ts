import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { Transfer } from '../payments/index.ts'
import type { Payout, PayoutId } from '../payouts/index.ts'
import type { Position } from './cursor.ts'

export interface TreasuryFigures {
  readonly network: Network
  /** Since when all that left before is known here; null while it is not. */
  readonly comparedAt: Date | null
  readonly short: Usdc
  readonly shortSince: Date | null
  /** Asked for and not ended, and for how long the oldest of them has waited. */
  readonly waiting: number
  readonly oldestSeconds: number
  readonly held: number
  readonly failed: number
}

/** Reads what is under way or failed, not what ever was. */
export async function findTreasuries(
  db: Db,
  networks: readonly Network[],
  now: Date,
): Promise<TreasuryFigures[]> {
  const { rows } = await sql<{
    network: Network
    compared_at: Date | null
    short_micros: bigint
    short_since: Date | null
    waiting: number
    oldest: Date | null
    held: number
    failed: number
  }>`
    select known.network, gate.compared_at, coalesce(gate.short_micros, 0) as short_micros, gate.short_since,
      coalesce(under_way.waiting, 0)::integer as waiting, under_way.oldest,
      coalesce(under_way.held, 0)::integer as held,
      (select count(*) from payouts where network = known.network and state = 'failed')::integer as failed
    from unnest(${networks}::text[]) with ordinality as known (network, n)
    left join payout_guards as gate on gate.network = known.network
    left join (
      select network, count(*) as waiting, min(created_at) as oldest, count(*) filter (where state = 'held') as held
      from payouts where state in ('queued', 'held', 'numbered', 'signed') group by network
    ) as under_way on under_way.network = known.network
    order by known.n`.execute(db)
  return rows.map((row) => ({
    network: row.network,
    comparedAt: row.compared_at,
    short: usdc(row.short_micros),
    shortSince: row.short_since,
    waiting: row.waiting,
    oldestSeconds: row.oldest === null ? 0 : secondsBetween(row.oldest, now),
    held: row.held,
    failed: row.failed,
  }))
}

const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1_000))

/** After a position, or from the beginning. */
const isAfter = (at: string, name: string, after: Position | undefined) =>
  after === undefined
    ? sql`true`
    : sql`(${sql.ref(at)}, ${sql.ref(name)}) > (${after.at}::timestamptz, ${after.name})`

export interface UnmatchedMoney {
  readonly account: string
  readonly kind: 'suspense' | 'surplus'
  readonly network: Network
  readonly reference: string
  /** Null where the books do not know whose it is: of what others paid beside a claim they know only the claimer. */
  readonly payer: string | null
  readonly amount: Usdc
  readonly state: Transfer['state']
  readonly happenedAt: Date
  /** What the transfer pays for; empty while nobody has claimed it. */
  readonly purpose: string
}

/** Of the accounts that hold something, through the index of those alone. */
export async function findUnmatched(
  db: Db,
  limit: number,
  after: Position | undefined,
): Promise<UnmatchedMoney[]> {
  const { rows } = await sql<{
    id: string
    kind: 'suspense' | 'surplus'
    network: Network
    subject: string
    payer: string | null
    balance_micros: bigint
    state: Transfer['state']
    happened_at: Date
    purpose: string
  }>`
    select account.id, account.kind, account.network, account.subject, account.balance_micros, transfer.state,
      transfer.happened_at, transfer.purpose,
      case when account.kind = 'surplus' or transfer.purpose = '' then transfer.payer end as payer
    from ledger_accounts as account
    join transfers as transfer on transfer.network = account.network and transfer.reference = account.subject
    where account.is_open and account.kind in ('suspense', 'surplus')
      and ${isAfter('transfer.happened_at', 'account.id', after)}
    order by transfer.happened_at, account.id limit ${limit}`.execute(db)
  return rows.map((row) => ({
    account: row.id,
    kind: row.kind,
    network: row.network,
    reference: row.subject,
    payer: row.payer,
    amount: usdc(row.balance_micros),
    state: row.state,
    happenedAt: row.happened_at,
    purpose: row.purpose,
  }))
}

/** Payouts that are over are not listed: there are as many as there ever were, and nothing to do about them. */
export type OpenState = Exclude<Payout['state'], 'final' | 'withdrawn'>

export interface ListedPayout
  extends Omit<Payout, 'purpose' | 'nonce' | 'finalReference' | 'toldAgent' | 'notBefore'> {
  /** By which it was paid or, not being final, was signed last in this round. */
  readonly reference: string | null
}

interface PayoutRow {
  readonly id: PayoutId
  readonly network: Network
  readonly kind: Payout['kind']
  readonly subject: string
  readonly payee: string | null
  readonly amount_micros: bigint
  readonly state: Payout['state']
  readonly reason: string | null
  readonly round: number
  readonly reference: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const payoutOf = (row: PayoutRow): ListedPayout => ({
  id: row.id,
  network: row.network,
  kind: row.kind,
  subject: row.subject,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  state: row.state,
  reason: row.reason,
  round: row.round,
  reference: row.reference,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Of the payout beside it. */
const REFERENCE = sql`coalesce(payout.final_reference, (
  select reference from payout_signatures
  where payout_id = payout.id and round = payout.round order by n desc limit 1
)) as reference`

/** Failed ones and those under way have an index each; one question over both would use neither. */
export async function findPayouts(
  db: Db,
  { states, network }: { states: readonly OpenState[]; network?: Network | undefined },
  limit: number,
  after: Position | undefined,
): Promise<ListedPayout[]> {
  const wanted = sql`state = any(${states}::text[]) and ${network === undefined ? sql`true` : sql`network = ${network}`}
    and ${isAfter('created_at', 'id', after)}`
  const { rows } = await sql<PayoutRow>`
    select payout.*, ${REFERENCE} from (
      select * from payouts where state = 'failed' and ${wanted}
      union all
      select * from payouts where state in ('queued', 'held', 'numbered', 'signed') and ${wanted}
      order by created_at, id limit ${limit}
    ) as payout order by payout.created_at, payout.id`.execute(db)
  return rows.map(payoutOf)
}

export async function findPayout(tx: Tx, id: PayoutId): Promise<ListedPayout | undefined> {
  const { rows } = await sql<PayoutRow>`
    select payout.*, ${REFERENCE} from payouts as payout where payout.id = ${id}`.execute(tx)
  return rows.map(payoutOf)[0]
}

export interface ListedOutgoingTransfer {
  readonly network: Network
  readonly reference: string
  readonly payoutId: string | null
  readonly payee: string | null
  readonly amount: Usdc
  readonly happenedAt: Date
  readonly bookedAt: Date | null
}

export const nameOfOutgoingTransfer = ({ network, reference }: ListedOutgoingTransfer): string =>
  `${network}:${reference}`

interface OutgoingTransferRow {
  readonly network: string
  readonly reference: string
  readonly payout_id: string | null
  readonly payee: string | null
  readonly amount_micros: bigint
  readonly happened_at: Date
  readonly written_off_at: Date | null
}

const outgoingTransferOf = (row: OutgoingTransferRow): ListedOutgoingTransfer => ({
  network: row.network as Network,
  reference: row.reference,
  payoutId: row.payout_id,
  payee: row.payee,
  amount: usdc(row.amount_micros),
  happenedAt: row.happened_at,
  bookedAt: row.written_off_at,
})

/** A payout is settled by one payment: a second one of it is as strange as one of no payout. */
export async function findUnexplained(
  db: Db,
  limit: number,
  after: Position | undefined,
): Promise<ListedOutgoingTransfer[]> {
  const { rows } = await sql<OutgoingTransferRow>`
    select * from (select *, network || ':' || reference as name from outgoing_transfers) as sending
    where is_final and written_off_at is null and ${isAfter('happened_at', 'name', after)}
      and not exists (
        select from payouts as payout where payout.id = sending.payout_id and payout.network = sending.network
          and payout.state = 'final' and payout.final_reference = sending.reference
      )
    order by happened_at, name limit ${limit}`.execute(db)
  return rows.map(outgoingTransferOf)
}

export async function findOutgoingTransfer(
  tx: Tx,
  network: Network,
  reference: string,
): Promise<ListedOutgoingTransfer | undefined> {
  const row = await tx
    .selectFrom('outgoing_transfers')
    .selectAll()
    .where('network', '=', network)
    .where('reference', '=', reference)
    .executeTakeFirst()
  return row && outgoingTransferOf(row)
}

export interface LockedTransfer {
  readonly network: Network
  readonly reference: string
  readonly purpose: string
  readonly state: string
}

/** Until the commit nobody claims it, and what it left in suspense stays as it is. */
export async function lockTransfer(
  tx: Tx,
  network: Network,
  reference: string,
): Promise<LockedTransfer | undefined> {
  const row = await tx
    .selectFrom('transfers')
    .select(['purpose', 'state'])
    .where('network', '=', network)
    .where('reference', '=', reference)
    .forUpdate()
    .executeTakeFirst()
  return row && { network, reference, ...row }
}
