import { type Actor, type Needs, provenWallets } from '@market/core/context'
import type { Db } from '@market/database/transact'
import { findOwnedAgents, ownerIn } from '@market/identity/agents'
import { cursorCodec, idField, type NextCursor, type PageRequest } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import { type RawBuilder, sql } from 'kysely'
import { type Bounty, type Claim, isPoster } from './bounty.ts'
import { MAX_TOTAL } from './find-matches.ts'
import { BOUNTY_COLUMNS, type BountyRow, bountyOf, findClaimsOf } from './store.ts'

/** Of an owner with more agents, the claims of the newest are listed. */
const MAX_AGENTS = 100

const CURSOR = cursorCodec<{ readonly id: string }>('my-bounties', { id: idField('bnty') })

/** A bounty with what the caller has to do with it. */
export interface MyBounty {
  readonly bounty: Bounty
  readonly isPoster: boolean
  /** The newest claims of the caller's agents on it. */
  readonly claims: readonly Claim[]
}

export interface MyBountyPage {
  readonly found: readonly MyBounty[]
  readonly nextCursor: NextCursor
  /** At most `MAX_TOTAL`. */
  readonly total: number
}

/** The bounties that the caller posted, and those that the caller's agents claimed, newest first. */
export async function listMyBounties(
  ctx: Needs<'db'>,
  actor: Actor,
  page: PageRequest,
): Promise<MyBountyPage> {
  const after = CURSOR.decode(page.cursor)
  const agentIds = await agentsOf(ctx.db, actor)
  const [rows, total] = await Promise.all([
    findMine(ctx.db, actor, agentIds, { limit: page.limit + 1, after: after?.id }),
    countMine(ctx.db, actor, agentIds),
  ])
  const { rows: bounties, nextCursor } = CURSOR.pageOf(rows.map(bountyOf), page.limit, ({ id }) => ({ id }))
  const claims = await findClaimsOf(
    ctx.db,
    agentIds,
    bounties.map(({ id }) => id),
  )
  const found = bounties.map((bounty) => ({
    bounty,
    isPoster: isPoster(bounty, actor),
    claims: claims.filter(({ bountyId }) => bountyId === bounty.id),
  }))
  return { found, nextCursor, total }
}

/** The agents for which the caller acts: the agent itself, or those of an owner. */
export async function agentsOf(db: Db, actor: Actor): Promise<AgentId[]> {
  if (actor.kind === 'agent') return [actor.agentId]
  const owner = ownerIn(actor)
  if (owner.userId === undefined && owner.wallets.length === 0) return []
  return (await findOwnedAgents(db, owner, undefined, { limit: MAX_AGENTS })).map(({ id }) => id)
}

interface IdPage {
  readonly limit: number
  readonly after: string | undefined
}

/** Ids begin with their time, so their order is that of creation. Each name is searched by its own index. */
function idsOf(actor: Actor, agentIds: readonly AgentId[], { limit, after }: IdPage): RawBuilder<unknown> {
  const isOlder = (column: string) => (after === undefined ? sql`true` : sql`${sql.ref(column)} < ${after}`)
  const name =
    actor.kind === 'user' ? `user:${actor.userId}` : actor.kind === 'agent' ? `agent:${actor.agentId}` : ''
  const wallets = provenWallets(actor)
  const keys = wallets.map(({ key }) => key)
  const evidence = wallets.map(({ provenBy }) => provenBy ?? 'linked')
  return sql`
    (select id from bounties where poster = ${name} and ${isOlder('id')} order by id desc limit ${limit})
    union
    select held.id from unnest(${keys}::text[], ${evidence}::text[]) as one (key, evidence) cross join lateral (
      select id from bounties where client_wallet = one.key and ${isOlder('id')}
        and (one.evidence in ('key', coalesce(client_proven_by, 'base-mainnet'))
          or (one.evidence = 'linked' and client_proven_by is distinct from 'alt-mainnet'))
      order by id desc limit ${limit}
    ) as held
    union
    select claimed.id from unnest(${agentIds}::text[]) as one (agent_id) cross join lateral (
      select distinct bounty_id as id from bounty_claims where agent_id = one.agent_id and ${isOlder('bounty_id')}
      order by bounty_id desc limit ${limit}
    ) as claimed`
}

async function findMine(
  db: Db,
  actor: Actor,
  agentIds: readonly AgentId[],
  page: IdPage,
): Promise<BountyRow[]> {
  const columns = sql.join(BOUNTY_COLUMNS.map((name) => sql.ref(`bounties.${name}`)))
  const { rows } = await sql<BountyRow>`
    select ${columns} from (
      select id from (${idsOf(actor, agentIds, page)}) as mine order by id desc limit ${page.limit}
    ) as newest join bounties on bounties.id = newest.id order by bounties.id desc`.execute(db)
  return rows
}

async function countMine(db: Db, actor: Actor, agentIds: readonly AgentId[]): Promise<number> {
  const all = idsOf(actor, agentIds, { limit: MAX_TOTAL, after: undefined })
  const { rows } = await sql<{ total: bigint }>`select count(*) as total from (${all}) as mine`.execute(db)
  return Math.min(MAX_TOTAL, Number(rows[0]?.total ?? 0n))
}
