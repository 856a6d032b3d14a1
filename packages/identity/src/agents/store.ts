import type { OwnWallet } from '@market/core/ports/signatures'
import type { Resealing, SealedRow } from '@market/core/reseal'
import { addStatistics } from '@market/core/statistics'
import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type Insertable, type SqlBool, sql, type Updateable } from 'kysely'
import { freeSlug } from '../names/index.ts'
import type { Agent, Owner, SecretField } from './agent.ts'
import { AGENT_COLUMNS, agentOf } from './row.ts'

const select = (db: Db | Tx) => db.selectFrom('agents').select(AGENT_COLUMNS)

export async function findAgent(db: Db | Tx, id: string): Promise<Agent | undefined> {
  const row = await select(db).where('id', '=', id).executeTakeFirst()
  return row && agentOf(row)
}

export async function findAgents(db: Db | Tx, ids: readonly AgentId[]): Promise<Agent[]> {
  const found = select(db).where('id', 'in', [...ids])
  return ids.length === 0 ? [] : (await found.execute()).map(agentOf)
}

export async function findAgentBySlug(db: Db, slug: string): Promise<Agent | undefined> {
  const row = await select(db).where('slug', '=', slug).executeTakeFirst()
  return row && agentOf(row)
}

/** By any of the fingerprints that an API key has while its hash key is changed. */
export async function findAgentByFingerprint(
  tx: Tx,
  fingerprints: readonly Buffer[],
): Promise<Agent | undefined> {
  const row = await select(tx).where('api_key_fingerprint', 'in', fingerprints).executeTakeFirst()
  return row && agentOf(row)
}

export async function lockAgent(tx: Tx, id: AgentId): Promise<Agent | undefined> {
  const row = await select(tx).where('id', '=', id).forUpdate().executeTakeFirst()
  return row && agentOf(row)
}

/** Until the commit the agent is not closed with its owner's account. Returns the hint of its API key. */
export async function lockApiKey(tx: Tx, id: AgentId): Promise<string | undefined> {
  const row = await tx
    .selectFrom('agents')
    .select('api_key_hint')
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()
  return row?.api_key_hint
}

/** The agents that the user owns, locked in a fixed order to avoid deadlocks. */
export async function lockAgentsOfUser(tx: Tx, userId: string): Promise<AgentId[]> {
  const rows = await tx
    .selectFrom('agents')
    .select('id')
    .where('owner_user_id', '=', userId)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map((row) => row.id as AgentId)
}

/** `isSameHolder` in SQL. */
const ownedBy = ({ key, provenBy }: OwnWallet) => {
  const evidence = sql`coalesce(owner_proven_by, 'base-mainnet')`
  if (provenBy === 'key') return sql<SqlBool>`owner_wallet = ${key}`
  return provenBy === undefined
    ? sql<SqlBool>`owner_wallet = ${key} and ${evidence} <> 'alt-mainnet'`
    : sql<SqlBool>`owner_wallet = ${key} and ${evidence} = ${provenBy}`
}

export async function findOwnedAgents(
  db: Db | Tx,
  owner: Owner,
  nameSkeleton: string | undefined,
  page: NewestFirstPage,
): Promise<Agent[]> {
  if (owner.userId === undefined && owner.wallets.length === 0) return []
  const rows = await select(db)
    .where((where) =>
      where.or([
        ...(owner.userId === undefined ? [] : [where('owner_user_id', '=', owner.userId)]),
        ...owner.wallets.map((wallet) => ownedBy(wallet)),
      ]),
    )
    .$if(nameSkeleton !== undefined, (query) => query.where('name_skeleton', '=', nameSkeleton ?? ''))
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(agentOf)
}

export const freeAgentSlug = (tx: Tx, slug: string): Promise<string> =>
  freeSlug(slug, (candidates) =>
    tx.selectFrom('agents').select('slug').where('slug', 'in', candidates).execute(),
  )

/** Returns undefined when another agent has the name or the slug. The unique keys decide between concurrent requests. */
export async function insertAgent(tx: Tx, values: Insertable<Tables['agents']>): Promise<Agent | undefined> {
  const row = await tx
    .insertInto('agents')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .returning(AGENT_COLUMNS)
    .executeTakeFirst()
  return row && agentOf(row)
}

export async function saveAgent(tx: Tx, id: AgentId, change: Updateable<Tables['agents']>): Promise<Agent> {
  const row = await tx
    .updateTable('agents')
    .set(change)
    .where('id', '=', id)
    .returning(AGENT_COLUMNS)
    .executeTakeFirstOrThrow()
  return agentOf(row)
}

/** Does nothing when another request has recorded a use after `before`. */
export async function saveLastSeen(tx: Tx, id: AgentId, at: Date, before: Date): Promise<void> {
  await tx
    .updateTable('agents')
    .set({ last_seen_at: at })
    .where('id', '=', id)
    .where('last_seen_at', '<=', before)
    .execute()
}

/** Sets the user's linked X handle on all their agents, except those that another user owns. */
export async function saveHandle(
  tx: Tx,
  owner: { userId: string; wallets: readonly OwnWallet[] },
  handle: string | null,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('agents')
    .set({ twitter_username: handle, updated_at: at })
    .where((where) =>
      where.or([
        where('owner_user_id', '=', owner.userId),
        ...owner.wallets.map((wallet) => where.and([where('owner_user_id', 'is', null), ownedBy(wallet)])),
      ]),
    )
    .where('twitter_username', 'is distinct from', handle)
    .execute()
}

export async function countOwnedByWallets(tx: Tx, wallets: readonly string[]): Promise<number> {
  if (wallets.length === 0) return 0
  const row = await tx
    .selectFrom('agents')
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .where('owner_wallet', 'in', [...wallets])
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

type SecretColumn = `${SecretField}_sealed`

export const findSecretsAfter = (
  db: Db,
  column: SecretColumn,
  after: AgentId | undefined,
  limit: number,
): Promise<SealedRow<AgentId>[]> =>
  db
    .selectFrom('agents')
    .select((row) => [row.ref('id').$castTo<AgentId>().as('key'), row.ref(column).as('sealed')])
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute()

export interface FingerprintKey {
  readonly id: AgentId
  readonly apiKeySealed: Buffer
}

export async function findFingerprintsAfter(
  db: Db,
  after: FingerprintKey | undefined,
  limit: number,
): Promise<SealedRow<FingerprintKey>[]> {
  const rows = await db
    .selectFrom('agents')
    .select((row) => [row.ref('id').$castTo<AgentId>().as('id'), 'api_key_sealed', 'api_key_fingerprint'])
    .where('id', '>', after?.id ?? '')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    key: { id: row.id, apiKeySealed: row.api_key_sealed },
    sealed: row.api_key_fingerprint,
  }))
}

/** Skips a row that is locked or whose value changed since it was read. */
export async function replaceSecrets(
  db: Db,
  column: SecretColumn | 'api_key_fingerprint',
  changes: readonly Resealing<AgentId>[],
): Promise<number> {
  const done = await sql`
    with due as (
      select * from unnest(
        ${changes.map(({ key }) => key)}::text[],
        ${changes.map(({ old }) => old)}::bytea[],
        ${changes.map(({ fresh }) => fresh)}::bytea[]
      ) as due (id, old, fresh)
    ), locked as (
      select agents.id from agents join due on due.id = agents.id and due.old = agents.${sql.ref(column)}
      for no key update of agents skip locked
    )
    update agents set ${sql.ref(column)} = due.fresh from due join locked on locked.id = due.id
    where agents.id = due.id and agents.${sql.ref(column)} = due.old`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}

export interface ListingCount {
  readonly activeListings: number
  /** Read under the row lock, so that a concurrent change of the owner is seen. */
  readonly marketable: boolean
}

/** Counts a listing that became active (1) or inactive (-1). The agent's row stays locked until the commit. */
export async function countListing(tx: Tx, id: AgentId, change: 1 | -1): Promise<ListingCount> {
  const counted = await tx
    .updateTable('agents')
    .set((row) => ({ service_count: row('service_count', '+', change) }))
    .where('id', '=', id)
    .returning(['service_count as activeListings', 'marketable'])
    .executeTakeFirstOrThrow()
  if (counted.marketable) await addStatistics(tx, { name: 'services', amount: BigInt(change) })
  return counted
}

export async function readListingCount(tx: Tx, id: AgentId): Promise<bigint> {
  const row = await tx
    .selectFrom('agents')
    .select('service_count')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return BigInt(row.service_count)
}

/** False when the agent was closed before. */
export async function saveClosed(tx: Tx, id: AgentId, at: Date): Promise<boolean> {
  const done = await tx
    .updateTable('agents')
    .set({ closed_at: at, avatar_url: null })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

/** Returns how many agents of the user were closed. */
export async function saveReopened(tx: Tx, userId: string): Promise<bigint> {
  const done = await tx
    .updateTable('agents')
    .set({ closed_at: null })
    .where('owner_user_id', '=', userId)
    .where('closed_at', 'is not', null)
    .executeTakeFirst()
  return done.numUpdatedRows
}

/** Adds to the number of paid orders (`total`) and of completed orders. */
export async function countOrders(
  tx: Tx,
  id: AgentId,
  change: { readonly total?: number; readonly completed?: number },
): Promise<void> {
  await tx
    .updateTable('agents')
    .set({
      total_orders: sql<number>`total_orders + ${change.total ?? 0}`,
      completed_orders: sql<number>`completed_orders + ${change.completed ?? 0}`,
    })
    .where('id', '=', id)
    .execute()
}

/** Counts a review with 1 to 5 stars, or with -1 no longer counts it. */
export async function countRating(tx: Tx, id: AgentId, rating: number, count: 1 | -1 = 1): Promise<void> {
  await sql`
    update agents set rating_sum = rating_sum + ${rating * count}, rating_count = rating_count + ${count},
      stars[${rating}::integer] = stars[${rating}::integer] + ${count}
    where id = ${id}`.execute(tx)
}

/** How many reviews of the agent have one star, two stars and so on. */
export async function readStars(db: Db, id: AgentId): Promise<readonly number[]> {
  const row = await db.selectFrom('agents').select('stars').where('id', '=', id).executeTakeFirstOrThrow()
  return row.stars
}
