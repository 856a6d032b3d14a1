import type { Buyer } from '@market/core/events'
import { columns, rowReader, rowWriter } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId, BountyId, ClaimId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import { nextState } from '@market/kernel/states'
import { takeOffFee } from '@market/money/ledger'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type Bounty, bountyNotFound, type Claim } from './bounty.ts'
import {
  BOUNTY_TRANSITIONS,
  type BountyAction,
  type BountyStatus,
  CLAIM_TRANSITIONS,
  type ClaimAction,
} from './states.ts'

type Row = Selectable<Tables['bounties']>
type ClaimRow = Selectable<Tables['bounty_claims']>

/** Every column but `search`, which is large and only for queries. */
export const BOUNTY_COLUMNS = columns('bounties', 'search')

export type BountyRow = Pick<Row, (typeof BOUNTY_COLUMNS)[number]>

export const bountyOf = rowReader<BountyRow, Bounty>()(columns('bounties', 'search', 'budget_micros'), {
  budget: (row) => usdc(row.budget_micros),
})

const newRow = rowWriter<Omit<Tables['bounties'], 'search' | 'pending_claims'>, Bounty>()(
  columns('bounties', 'search', 'pending_claims', 'budget_micros'),
  { budget_micros: ({ budget }) => budget },
)

const claimOf = rowReader<ClaimRow, Claim>()(columns('bounty_claims'), {})

export async function insertBounty(tx: Tx, bounty: Bounty): Promise<void> {
  await tx.insertInto('bounties').values(newRow(bounty)).execute()
}

export async function findBounty(db: Db | Tx, id: BountyId): Promise<Bounty> {
  const row = await db.selectFrom('bounties').select(BOUNTY_COLUMNS).where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw bountyNotFound(id)
  return bountyOf(row)
}

/** Locks the row until the transaction ends: whatever changes a bounty or its claims runs one after another. */
export async function lockBounty(tx: Tx, id: BountyId): Promise<Bounty> {
  const row = await tx
    .selectFrom('bounties')
    .select(BOUNTY_COLUMNS)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw bountyNotFound(id)
  return bountyOf(row)
}

/** Saves the next status of a locked bounty. Its pending claims must have ended before. */
export async function saveStatus(tx: Tx, bounty: Bounty, action: BountyAction, at: Date): Promise<Bounty> {
  const status = nextState(BOUNTY_TRANSITIONS, { id: bounty.id, state: bounty.status }, action)
  const row = await tx
    .updateTable('bounties')
    .set({ status, updated_at: at })
    .where('id', '=', bounty.id)
    .returning(BOUNTY_COLUMNS)
    .executeTakeFirstOrThrow()
  return bountyOf(row)
}

/** Adds a claim and counts it. Undefined when the agent has a claim already. The bounty must be locked. */
export async function insertClaim(tx: Tx, claim: Claim): Promise<Claim | undefined> {
  const { rows } = await sql<ClaimRow>`
    with added as (
      insert into bounty_claims (id, bounty_id, agent_id, message, status, created_at, expires_at)
      values (${claim.id}, ${claim.bountyId}, ${claim.agentId}, ${claim.message}, ${claim.status},
        ${claim.createdAt}, ${claim.expiresAt})
      on conflict (bounty_id, agent_id) where status in ('pending', 'accepted') do nothing
      returning *
    ), counted as (
      update bounties set pending_claims = pending_claims + 1 from added where bounties.id = added.bounty_id
    )
    select * from added`.execute(tx)
  return rows[0] && claimOf(rows[0])
}

/** Ends claims of a locked bounty that are pending, and returns them by the ids of their agents. */
export async function endClaims(
  tx: Tx,
  { id }: Pick<Bounty, 'id'>,
  action: ClaimAction,
  at: Date,
  which: { readonly only?: ClaimId; readonly except?: ClaimId; readonly expiredBy?: Date } = {},
): Promise<Claim[]> {
  const { only, except, expiredBy } = which
  const { rows } = await sql<ClaimRow>`
    with ended as (
      update bounty_claims set status = ${CLAIM_TRANSITIONS.pending[action]}, ended_at = ${at}
      where bounty_id = ${id} and status = 'pending'
        and ${only === undefined ? sql`true` : sql`id = ${only}`}
        and ${except === undefined ? sql`true` : sql`id <> ${except}`}
        and ${expiredBy === undefined ? sql`true` : sql`expires_at <= ${expiredBy}`}
      returning *
    ), counted as (
      update bounties set pending_claims = pending_claims - (select count(*) from ended) where id = ${id}
    )
    select * from ended order by agent_id`.execute(tx)
  return rows.map(claimOf)
}

/** A claim and its bounty do not expire before `until`: a transfer for them is waited for. */
export async function extendExpiry(tx: Tx, { id, bountyId }: Claim, until: Date): Promise<void> {
  await sql`
    with claim as (update bounty_claims set expires_at = greatest(expires_at, ${until}) where id = ${id})
    update bounties set expires_at = greatest(expires_at, ${until}) where id = ${bountyId}`.execute(tx)
}

export async function findClaim(db: Db | Tx, bountyId: BountyId, id: ClaimId): Promise<Claim | undefined> {
  const row = await db
    .selectFrom('bounty_claims')
    .selectAll()
    .where('id', '=', id)
    .where('bounty_id', '=', bountyId)
    .executeTakeFirst()
  return row && claimOf(row)
}

/** The claims that can be or were accepted, and then the newest that have ended otherwise. */
export async function findClaims(db: Db, bountyId: BountyId, maxEnded: number): Promise<Claim[]> {
  const { rows } = await sql<ClaimRow>`
    (select * from bounty_claims where bounty_id = ${bountyId} and status in ('pending', 'accepted')
      order by created_at desc, id desc)
    union all
    (select * from bounty_claims where bounty_id = ${bountyId} and status not in ('pending', 'accepted')
      order by created_at desc, id desc limit ${maxEnded})`.execute(db)
  return rows.map(claimOf)
}

/** The claim of an agent on each of the bounties: the one that is not decided or was accepted, else the newest. */
export async function findClaimsOf(
  db: Db | Tx,
  agentIds: readonly AgentId[],
  bountyIds: readonly BountyId[],
): Promise<Claim[]> {
  if (agentIds.length === 0 || bountyIds.length === 0) return []
  const rows = await db
    .selectFrom('bounty_claims')
    .selectAll()
    .distinctOn(['agent_id', 'bounty_id'])
    .where('agent_id', 'in', [...agentIds])
    .where('bounty_id', 'in', [...bountyIds])
    .orderBy('agent_id')
    .orderBy('bounty_id', 'desc')
    .orderBy(sql`status in ('pending', 'accepted')`, 'desc')
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map(claimOf)
}

/** The agents that have a pending claim on a bounty. */
export async function findPendingAgents(tx: Tx, bountyId: BountyId): Promise<AgentId[]> {
  const rows = await tx
    .selectFrom('bounty_claims')
    .select('agent_id')
    .where('bounty_id', '=', bountyId)
    .where('status', '=', 'pending')
    .execute()
  return rows.map((row) => row.agent_id as AgentId)
}

/** Whether the wallet has an open bounty of which this amount could accept a claim: its transfer can be for that bounty. */
export async function hasOpenBountyOfWallet(db: Db | Tx, wallet: string, amount: Usdc): Promise<boolean> {
  const { agent: largest } = takeOffFee(amount)
  const { rows } = await sql`
    select client_wallet from bounties
    where client_wallet = ${wallet} and status = 'open' and budget_micros <= ${largest} limit 1`.execute(db)
  return rows.length > 0
}

/** Whether one of them posted a bounty that is open. */
export async function hasOpenBounties(tx: Tx, posters: readonly Buyer[]): Promise<boolean> {
  const { rows } = await sql`
    select poster from bounties where poster = any(${[...posters]}::text[]) and status = 'open' limit 1`.execute(
    tx,
  )
  return rows.length > 0
}

/** The bounties on which one of the agents has a pending claim. */
export async function findClaimedBy(tx: Tx, agentIds: readonly AgentId[]): Promise<Claim[]> {
  if (agentIds.length === 0) return []
  const rows = await tx
    .selectFrom('bounty_claims')
    .selectAll()
    .where('agent_id', 'in', [...agentIds])
    .where('status', '=', 'pending')
    .orderBy('bounty_id')
    .execute()
  return rows.map(claimOf)
}

/** Removes what the posters and the agents wrote. */
export async function eraseBounties(
  tx: Tx,
  posters: readonly Buyer[],
  agentIds: readonly AgentId[],
): Promise<void> {
  await tx
    .updateTable('bounties')
    .set({ title: '', brief: '', client_wallet: '', reference_urls: [], reference_images: [] })
    .where('poster', 'in', [...posters])
    .execute()
  if (agentIds.length === 0) return
  await tx
    .updateTable('bounty_claims')
    .set({ message: '' })
    .where('agent_id', 'in', [...agentIds])
    .execute()
}

/** As a part of the statement that saves the order of a bounty: the status that the bounty has then. */
export const followOrder = (id: BountyId, status: BountyStatus, at: Date): RawBuilder<unknown> => sql`
  update bounties set status = ${status}, updated_at = ${at}::timestamptz where id = ${id} and status <> ${status}`
