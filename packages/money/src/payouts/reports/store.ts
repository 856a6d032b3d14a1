import type { Needs } from '@market/core/context'
import { sumAmounts } from '@market/database/sum-amounts'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { paysMarkOnce } from '@market/kernel/payout-mark'
import { COUNT_LIMIT, type WaitingMoney } from '@market/kernel/waiting'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { openAccounts } from '../../ledger/index.ts'
import { type HoldCode, UNJUSTIFIED } from '../hold.ts'
import type { Payout, PayoutId } from '../payout.ts'
import { payoutOf } from '../row.ts'

/** The partial indexes `payouts_due` and `payouts_failed` have these conditions, so each is queried by itself. */
const UNDER_WAY = sql`state in ('queued', 'held', 'signed')`
const FAILED = sql`state = 'failed'`

export interface NetworkCounts {
  readonly network: Network
  readonly waiting: number
  readonly oldest: Date | null
  readonly held: number
  readonly failed: number
  readonly unjustified: number
}

/** Networks without a payout under way or failed have no entry. */
export async function countByNetwork(db: Db): Promise<NetworkCounts[]> {
  const { rows } = await sql<NetworkCounts>`
    select network, (count(*) filter (where state <> 'failed'))::integer as waiting,
      min(created_at) filter (where state not in ('failed', 'held')) as oldest,
      (count(*) filter (where state = 'held'))::integer as held,
      (count(*) filter (where state = 'failed'))::integer as failed,
      (count(*) filter (where hold_code = any(${UNJUSTIFIED})))::integer as unjustified
    from (
      select network, state, hold_code, created_at from payouts where ${UNDER_WAY}
      union all
      select network, state, hold_code, created_at from payouts where ${FAILED}
    ) as open group by network`.execute(db)
  return rows
}

export interface HeldCount {
  readonly network: Network
  readonly code: HoldCode
  readonly count: number
}

/** How many payouts wait for each reason; one that is signed and cannot leave too. */
export async function countHeldByCode(db: Db): Promise<HeldCount[]> {
  const { rows } = await sql<HeldCount>`
    select network, hold_code as code, count(*)::integer as count from payouts
    where hold_code is not null and ${UNDER_WAY} group by network, hold_code`.execute(db)
  return rows
}

export interface WaitingPayouts extends WaitingMoney {
  readonly state: 'held' | 'failed'
  readonly holdCode: HoldCode | null
}

/** Held and failed payouts by network and reason. Of each state the oldest are counted, up to `COUNT_LIMIT`. */
export async function findWaitingPayouts({ db }: Needs<'db'>): Promise<WaitingPayouts[]> {
  // The index `payouts_held_or_failed` orders each state by itself.
  const oldest = (state: RawBuilder<unknown>) => sql`
    (select state, network, hold_code, amount_micros, created_at from payouts where state = ${state}
    order by created_at limit ${COUNT_LIMIT})`
  const { rows } = await sql<WaitingPayouts>`
    select state, network, hold_code as "holdCode", count(*)::integer as count,
      sum(amount_micros)::bigint as amount, min(created_at) as oldest
    from (${oldest(sql`'held'`)} union all ${oldest(sql`'failed'`)}) as waiting
    group by state, network, hold_code order by network, hold_code`.execute(db)
  return rows
}

/** Final fee withdrawals by network: a few rows, because operators make each of them. */
export async function sumWithdrawnFees(db: Db): Promise<{ network: Network; amount: Usdc }[]> {
  const { rows } = await sql<{ network: Network; amount: bigint }>`
    select network, sum(amount_micros)::bigint as amount from payouts
    where kind = 'fee_withdrawal' and state = 'final' group by network`.execute(db)
  return rows.map(({ network, amount }) => ({ network, amount: usdc(amount) }))
}

/** What the ledger has reserved for moves to the cold address: that account has it already. */
export const sumMovingToCold = (db: Db | Tx, network: Network): Promise<Usdc> =>
  sumMoving(db, network, 'move_to_cold')

/** What the ledger has reserved for moves to venues: the accounts of these moves have it already. */
export const sumMovingToVenues = (db: Db | Tx, network: Network): Promise<Usdc> =>
  sumMoving(db, network, 'move_to_venue')

async function sumMoving(
  db: Db | Tx,
  network: Network,
  kind: 'move_to_cold' | 'move_to_venue',
): Promise<Usdc> {
  return sumAmounts(
    db,
    sql`from (select account.balance_micros as amount_micros from payouts as payout
      join ${openAccounts(db, ['payable']).as('account')} on account.id = 'payable:' || payout.network || ':' || payout.id
      where payout.kind = ${kind} and payout.network = ${network}) as moving`,
  )
}

/** Ended payouts are not listed: their number only grows, and an operator cannot change them. */
export type ListedState = Exclude<Payout['state'], 'final' | 'withdrawn'>

export interface ListedPayout extends Payout {
  /** The final transaction or, before that, the one that the chain shows or (Solana) that was signed last in this round. */
  readonly reference: string | null
}

type Row = Selectable<Tables['payouts']> & { readonly reference: string | null }

const listedOf = (row: Row): ListedPayout => ({ ...payoutOf(row), reference: row.reference })

const REFERENCE = sql`coalesce(payout.final_reference, (
  select reference from outgoing_transfers where mark = payout.mark order by block_height desc limit 1
), (
  select reference from payout_signatures
  where network = 'solana-mainnet' and payout_id = payout.id and round = payout.round order by n desc limit 1
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
  return rows.map(listedOf)
}

export async function findListedPayout(tx: Tx, id: PayoutId): Promise<ListedPayout | undefined> {
  const { rows } = await sql<Row>`
    select payout.*, ${REFERENCE} from payouts as payout where payout.id = ${id}`.execute(tx)
  return rows.map(listedOf)[0]
}

/** Longer than any chain takes to make a block final, and than a worker takes to post it. */
const POSTED_WITHIN = sql`interval '1 hour'`

/**
 * What may have left the treasury and is not posted as sent: the ledger's reserved money of payouts with a stored
 * signature or, where the database lost that, with a payment on the chain. A row without money or without a signature is none, and neither is one whose final transaction was known
 * for so long that it must be posted: then its amount is missing. A move to the cold address leaves nothing missing; a
 * move to a venue leaves the treasury like any other payout.
 */
// fix: in-flight-by-ledger
const inFlightPayouts = (tx: Db | Tx, network: Network) => sql`
  select payout.id, payout.mark, payout.round, account.balance_micros as amount_micros
  from payouts as payout
  join ${openAccounts(tx, ['payable']).as('account')} on account.id = 'payable:' || payout.network || ':' || payout.id
  where payout.network = ${network} and payout.state = 'signed' and payout.kind <> 'move_to_cold' and (exists (
    select from payout_signatures as signature
    where signature.payout_id = payout.id and signature.round = payout.round
  ) or exists (
    select from outgoing_transfers as sent where sent.mark = payout.mark and sent.network = payout.network
  )) and not exists (
    select from outgoing_transfers as sent
    where sent.mark = payout.mark and sent.network = payout.network and sent.is_final
      and sent.read_at < now() - ${POSTED_WITHIN}
  )`

export const inFlight = (tx: Db | Tx, network: Network): Promise<Usdc> =>
  sumAmounts(tx, sql`from (${inFlightPayouts(tx, network)}) as payout`)

/** The payee of every payout, null while it has no address, and whether it is a move to an address of ours. Queried by `id`. */
export const payoutPayees = sql`
  (select id, payee, kind in ('move_to_cold', 'move_to_venue') as is_move from payouts)`

/** A payout that may have left the treasury. Any one of its transactions may be executed, and only one can be. */
export interface InFlight {
  /** Solana: the newest transaction, with `.index` of a later payment of it. EVM: the nonce of the authorization, which is executed at most once. */
  readonly reference: string
  /** Solana: earlier transactions that the newest one replaces. */
  readonly replaces: readonly string[]
  readonly amount: Usdc
}

/** The payouts that `inFlight` sums, largest first, and the number of all. Read in the same transaction, both agree. */
export async function findInFlight(
  tx: Tx,
  network: Network,
  limit: number,
): Promise<{ readonly transactions: readonly InFlight[]; readonly count: number }> {
  const { rows } = await sql<{ references: string[]; amount_micros: bigint; count: number }>`
    select payout.amount_micros, payout.count, case when ${paysMarkOnce(network)} then array[payout.mark] else array(
      select signature.reference || case transfer_index when 0 then '' else '.' || transfer_index end
      from payout_signatures as signature
      where signature.payout_id = payout.id and signature.round = payout.round order by signature.n desc
    ) end as references
    from (
      select id, mark, round, amount_micros, (count(*) over ())::integer as count
      from (${inFlightPayouts(tx, network)}) as one order by amount_micros desc, id limit ${limit}
    ) as payout
    order by payout.amount_micros desc, payout.id`.execute(tx)
  const transactions = rows.map(({ references: [reference = '', ...replaces], amount_micros }) => ({
    reference,
    replaces,
    amount: usdc(amount_micros),
  }))
  return { transactions, count: rows[0]?.count ?? 0 }
}

/** Waits for the minimum to be lowered, and is paid to its address then, with or without an account. */
// fix: small-payout-keeps-no-account
const IS_SMALL = sql`hold_code is not distinct from 'below_minimum'`

/** Whether a payout to one of these agents was requested and is not final. A failed one still waits for a decision. */
export async function hasOpenPayouts(tx: Tx, agentIds: readonly AgentId[]): Promise<boolean> {
  if (agentIds.length === 0) return false
  // Two queries, because each kind of state has an index of its own.
  const ofAgents = tx
    .selectFrom('payouts')
    .select('id')
    .where('agent_id', 'in', [...agentIds])
    .limit(1)
  for (const state of [sql`${UNDER_WAY} and not (${IS_SMALL})`, FAILED])
    if ((await ofAgents.where(sql<boolean>`${state}`).executeTakeFirst()) !== undefined) return true
  return false
}
