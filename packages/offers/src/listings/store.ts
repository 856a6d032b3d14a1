import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { freeSlug } from '@market/identity/names'
import { earlier, HOUR } from '@market/kernel/clock'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import { type Selectable, sql } from 'kysely'
import type { Listing, ListingSummary, Offer, RequirementField } from './listing.ts'

/** Only queries and the page of one listing read these. */
const NOT_READ = ['stars', 'search'] as const
const LONGEST = ['deliverables', 'demo_url', 'requirement_fields'] as const

/** What lists of many listings read: the driver parses every column, also those that no response has. */
export const SUMMARY_COLUMNS = columns('listings', ...NOT_READ, ...LONGEST)

const LISTING_COLUMNS = columns('listings', ...NOT_READ)

type Row<Column extends keyof Tables['listings']> = Pick<Selectable<Tables['listings']>, Column>
export type SummaryRow = Row<(typeof SUMMARY_COLUMNS)[number]>

const priceOf = ({ price_micros: price }: { readonly price_micros: bigint | null }): Usdc | null =>
  price === null ? null : usdc(price)

export const summaryOf = rowReader<SummaryRow, ListingSummary>()(
  columns('listings', ...NOT_READ, ...LONGEST, 'price_micros'),
  { price: priceOf },
)

const listingOf = rowReader<Row<(typeof LISTING_COLUMNS)[number]>, Listing>()(
  columns('listings', ...NOT_READ, 'price_micros'),
  { price: priceOf },
)

const select = (db: Db | Tx) => db.selectFrom('listings').select(LISTING_COLUMNS)

type NewListing = Offer & Pick<Listing, 'id' | 'agentId' | 'slug' | 'marketable' | 'createdAt'>

const columnsOf = (offer: Offer) => ({
  category: offer.category,
  title: offer.title,
  description: offer.description,
  price_type: offer.priceType,
  price_micros: offer.price,
  turnaround_hours: offer.turnaroundHours,
  deliverables: [...offer.deliverables],
  demo_url: offer.demoUrl,
  quota_limit: offer.quotaLimit,
  max_revisions: offer.maxRevisions,
  requirement_fields: JSON.stringify(offer.requirementFields),
})

export async function insertListing(tx: Tx, listing: NewListing): Promise<Listing> {
  const row = await tx
    .insertInto('listings')
    .values({
      ...columnsOf(listing),
      id: listing.id,
      agent_id: listing.agentId,
      slug: listing.slug,
      active: true,
      marketable: listing.marketable,
      created_at: listing.createdAt,
      updated_at: listing.createdAt,
    })
    .returning(LISTING_COLUMNS)
    .executeTakeFirstOrThrow()
  return listingOf(row)
}

export async function saveListing(tx: Tx, listing: Listing): Promise<Listing> {
  const row = await tx
    .updateTable('listings')
    .set({ ...columnsOf(listing), active: listing.active, updated_at: listing.updatedAt })
    .where('id', '=', listing.id)
    .returning(LISTING_COLUMNS)
    .executeTakeFirstOrThrow()
  return listingOf(row)
}

/** A price that a listing no longer has. Prices that nobody can pay any more are deleted. */
export async function savePastPrice(tx: Tx, id: ListingId, price: Usdc, until: Date): Promise<void> {
  await tx
    .deleteFrom('listing_prices')
    .where('listing_id', '=', id)
    .where('valid_until', '<', earlier(until, PAST_PRICE_MS))
    .execute()
  await tx
    .insertInto('listing_prices')
    .values({ listing_id: id, price_micros: price, valid_until: until })
    .onConflict((conflict) =>
      conflict.columns(['listing_id', 'price_micros']).doUpdateSet({ valid_until: until }),
    )
    .execute()
}

/** A transfer of a price that was valid within this time is accepted. */
const PAST_PRICE_MS = 1 * HOUR

/** The prices that the listing had within the last hour, without the current one. */
export async function findPastPrices(db: Db | Tx, id: ListingId, now: Date): Promise<Usdc[]> {
  const rows = await db
    .selectFrom('listing_prices')
    .select('price_micros')
    .where('listing_id', '=', id)
    .where('valid_until', '>=', earlier(now, PAST_PRICE_MS))
    .execute()
  return rows.map((row) => usdc(row.price_micros))
}

export async function lockListing(tx: Tx, id: ListingId): Promise<Listing | undefined> {
  const row = await select(tx).where('id', '=', id).forUpdate().executeTakeFirst()
  return row && listingOf(row)
}

export async function lockActiveListings(tx: Tx, agentId: AgentId): Promise<Listing[]> {
  const rows = await select(tx)
    .where('agent_id', '=', agentId)
    .where('active', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(listingOf)
}

/** Two listings of an agent have different slugs. */
export const freeListingSlug = (tx: Tx, agentId: AgentId, slug: string): Promise<string> =>
  freeSlug(slug, (candidates) =>
    tx
      .selectFrom('listings')
      .select('slug')
      .where('agent_id', '=', agentId)
      .where('slug', 'in', candidates)
      .execute(),
  )

/** The newest listings of an agent, also inactive ones. */
export async function findListingsOf(db: Db, agentId: AgentId, page: NewestFirstPage): Promise<Listing[]> {
  const rows = await select(db).where('agent_id', '=', agentId).$call(newestFirstPage(page)).execute()
  return rows.map(listingOf)
}

/** The newest active listings of an agent. */
export async function findSummariesOf(
  db: Db,
  agentId: AgentId,
  page: NewestFirstPage,
): Promise<ListingSummary[]> {
  const rows = await db
    .selectFrom('listings')
    .select(SUMMARY_COLUMNS)
    .where('agent_id', '=', agentId)
    .where('active', '=', true)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(summaryOf)
}

export async function findListing(db: Db | Tx, id: ListingId): Promise<Listing | undefined> {
  const row = await select(db).where('id', '=', id).executeTakeFirst()
  return row && listingOf(row)
}

export async function findListingBySlug(
  db: Db,
  agentId: AgentId,
  slug: string,
): Promise<Listing | undefined> {
  const row = await select(db).where('agent_id', '=', agentId).where('slug', '=', slug).executeTakeFirst()
  return row && listingOf(row)
}

export async function findListings(db: Db, ids: readonly ListingId[]): Promise<ListingSummary[]> {
  const rows = await db.selectFrom('listings').select(SUMMARY_COLUMNS).where('id', 'in', ids).execute()
  return rows.map(summaryOf)
}

/** The questions that the listings ask, by the id of the listing. */
export async function findRequirementFields(
  db: Db,
  ids: readonly ListingId[],
): Promise<ReadonlyMap<ListingId, readonly RequirementField[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('listings')
    .select(['id', 'requirement_fields'])
    .where('id', 'in', ids)
    .execute()
  return new Map(
    rows.map((row) => [row.id as ListingId, row.requirement_fields as readonly RequirementField[]]),
  )
}

/** Adds a paid order, or subtracts one whose payment was reversed. */
export async function countOrdered(tx: Tx, id: ListingId, more: 1 | -1 = 1): Promise<void> {
  await sql`update listings set total_orders = total_orders + ${more} where id = ${id}`.execute(tx)
}

/** Adds a completed order. Each buyer counts once for the ranking. */
export async function countSettled(tx: Tx, id: ListingId, buyer: string): Promise<void> {
  await sql`
    with first as (
      insert into listing_buyers (listing_id, buyer) values (${id}, ${buyer}) on conflict do nothing returning 1
    )
    update listings set
      completed_orders = completed_orders + 1,
      completed_buyers = completed_buyers + (select count(*) from first)
    where id = ${id}`.execute(tx)
}

/** Reverses `countSettled`. The buyer still counts while another of their orders of this listing is completed. */
export async function uncountSettled(
  tx: Tx,
  { listingId, buyer }: { readonly listingId: ListingId; readonly buyer: string },
  hasOtherCompleted: () => Promise<boolean>,
): Promise<void> {
  // Without the lock, two orders of one buyer that are reversed at once would each see the other as completed.
  await sql`select from listings where id = ${listingId} for update`.execute(tx)
  const isLast = !(await hasOtherCompleted())
  await sql`
    with last as (
      delete from listing_buyers where ${isLast} and listing_id = ${listingId} and buyer = ${buyer} returning 1
    )
    update listings set
      completed_orders = completed_orders - 1,
      completed_buyers = completed_buyers - (select count(*) from last)
    where id = ${listingId}`.execute(tx)
}

/** Adds a rating of 1 to 5, or with -1 takes it away. */
export async function countRating(tx: Tx, id: ListingId, rating: number, count: 1 | -1 = 1): Promise<void> {
  await sql`
    update listings set rating_sum = rating_sum + ${rating * count}, rating_count = rating_count + ${count},
      stars[${rating}::integer] = stars[${rating}::integer] + ${count}
    where id = ${id}`.execute(tx)
}

/** How many reviews of an agent's listing have one star, two stars and so on. */
export async function readStars(
  db: Db,
  id: ListingId,
  agentId: AgentId,
): Promise<readonly number[] | undefined> {
  const row = await db
    .selectFrom('listings')
    .select('stars')
    .where('id', '=', id)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return row?.stars
}
