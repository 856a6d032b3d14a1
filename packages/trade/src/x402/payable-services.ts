import type { Needs } from '@market/core/context'
import type { WalletChain } from '@market/core/ports/signatures'
import { agentsPaidAt, findAgentById, payableNetworks, preferredFirst } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { browseListings, findListing, isBelow, listingNotFound } from '../listings/index.ts'
import { countPayers } from '../orders/index.ts'
import { payoutWaitMs } from './contest/rules.ts'
import { isPayable, openNetworks, type Payable, type Quote, quoteFor, waysOn } from './quote.ts'

/** A service that can be bought by x402 now. */
export interface ForSale {
  readonly listing: Payable
  readonly quote: Quote
}

type Ctx = Needs<'db' | 'clock' | 'chains' | 'facilitators' | 'minPrice'>

/** The service and its price; fails when it cannot be bought by x402. */
export async function findPayable(ctx: Ctx, id: ListingId, shortWaitMax: Usdc): Promise<ForSale> {
  const listing = await findListing(ctx.db, id)
  if (listing === undefined || !listing.active || !listing.marketable) throw listingNotFound(id)
  if (!isPayable(listing))
    throw notPayable('Only services with a fixed price can. Order it with POST /api/orders')
  if (isBelow(listing, ctx.minPrice)) throw notPayable('Its price is below the minimum')
  const agent = await findAgentById(ctx.db, listing.agentId)
  const networks = await payableNetworks(ctx, ctx.db, agent, openNetworks(ctx))
  if (networks.length === 0) throw notPayable('Its agent has no payout address on an open network')
  const ways = waysOn(networks, ctx.chains, ctx.facilitators)
  const payers = await countPayers(ctx.db, listing.agentId, ctx.clock.now())
  const waitMs = payoutWaitMs(addFee(listing.price).due, payers, shortWaitMax)
  return { listing, quote: quoteFor(listing, ways, waitMs) }
}

const notPayable = (reason: string): ApiError =>
  new ApiError('not_found', `This service cannot be bought by x402. ${reason}.`, { code: 'not_payable' })

export interface PayableAsked {
  readonly category?: string | undefined
  readonly search?: string | undefined
  /** Only services that can be paid on one of these. */
  readonly networks?: readonly Network[] | undefined
  readonly limit: number
  readonly cursor?: string | undefined
  /** For formats without cursors; not for a search. */
  readonly offset?: number | undefined
}

/** Services that can be bought by x402: a search by relevance, everything else by distinct buyers. */
export async function listPayable(
  ctx: Ctx & Needs<'clock'>,
  { networks, ...asked }: PayableAsked,
): Promise<{ readonly found: readonly ForSale[]; readonly nextCursor: string | null }> {
  const open = openNetworks(ctx, networks)
  if (open.length === 0) return { found: [], nextCursor: null }
  const page = await browseListings(ctx, { ...asked, priceType: 'fixed', extra: isOffered(ctx, open) })
  const listings = page.found.map(({ listing }) => listing).filter(isPayable)
  return { found: await forSale(ctx, listings), nextCursor: page.nextCursor }
}

/** The number of services that can be bought by x402, counted up to `most`. */
export async function countPayable(
  ctx: Needs<'db' | 'clock' | 'chains' | 'minPrice'>,
  { networks, most }: { readonly networks?: readonly Network[] | undefined; readonly most: number },
): Promise<number> {
  const open = openNetworks(ctx, networks)
  if (open.length === 0) return 0
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (
      select from listings
      where active and marketable and price_type = 'fixed' and ${isOffered(ctx, open)}
      order by settled_buyers desc, id desc limit ${most}
    ) as counted`.execute(ctx.db)
  return Number(rows[0]?.count ?? 0n)
}

/** Adds the quote to each listing, without the payout's wait. One that can no longer be paid is left out. */
export async function forSale(ctx: Ctx, listings: readonly Payable[]): Promise<ForSale[]> {
  if (listings.length === 0) return []
  const networks = await payoutNetworks(
    ctx,
    listings.map(({ agentId }) => agentId),
  )
  return listings.flatMap((listing) => {
    const ways = waysOn(networks.get(listing.agentId) ?? [], ctx.chains, ctx.facilitators)
    return ways.length === 0 ? [] : [{ listing, quote: quoteFor(listing, ways, null) }]
  })
}

/**
 * The rule of `payoutAddressOf` in SQL, for lists. `seller` is a row of `agentsPaidAt`. The wallet is selected as a value,
 * because the planner might read all wallets for an `exists`.
 */
const IS_PAID_ON_SOLANA = sql<SqlBool>`(
  seller.payout_wallet is not null or seller.owner_wallet not like '0x%'
  or (select true from agent_wallets as held where held.agent_id = seller.id and held.chain = 'solana')
)`
const IS_PAID_ON_BASE = sql<SqlBool>`(
  seller.payout_address_base is not null or seller.owner_wallet like '0x%'
    and coalesce(seller.owner_proven_by, 'base-mainnet') in ('key', 'base-mainnet')
)`
const IS_PAID_ON_ALT = sql<SqlBool>`(
  seller.owner_wallet like '0x%' and seller.owner_proven_by in ('key', 'alt-mainnet')
)`

const IS_PAID_ON: Readonly<Record<Network, RawBuilder<SqlBool>>> = {
  'solana-mainnet': IS_PAID_ON_SOLANA,
  'base-mainnet': IS_PAID_ON_BASE,
  'alt-mainnet': IS_PAID_ON_ALT,
}

/** A fixed price that is high enough, and an agent that can be paid on one of the networks. */
export const isOffered = (
  { minPrice, clock }: Needs<'minPrice' | 'clock'>,
  networks: readonly Network[],
): RawBuilder<SqlBool> =>
  sql<SqlBool>`(price_micros >= ${minPrice} and ${isPaidOnOneOf(networks, clock.now())})`

/**
 * Whether the agent of a listing can be paid on one of these networks. It is a value of each listing, because for a join
 * the planner might read the whole table.
 */
function isPaidOnOneOf(networks: readonly Network[], now: Date): RawBuilder<SqlBool> {
  const rules = [...new Set(networks.map((network) => IS_PAID_ON[network]))]
  return sql<SqlBool>`(
    select ${sql.join(rules, sql` or `)} from ${agentsPaidAt(now)} as seller where seller.id = agent_id
  )`
}

type Row = { id: AgentId; payoutChain: WalletChain | null } & Record<Network, boolean | null>

/** The networks on which each of these agents can be paid. */
export async function payoutNetworks(
  { db, clock }: Needs<'db' | 'clock'>,
  agentIds: readonly AgentId[],
): Promise<ReadonlyMap<AgentId, readonly Network[]>> {
  const { rows } = await sql<Row>`
    select id, payout_chain as "payoutChain", ${IS_PAID_ON_SOLANA} as "solana-mainnet",
      ${IS_PAID_ON_BASE} as "base-mainnet", ${IS_PAID_ON_ALT} as "alt-mainnet"
    from ${agentsPaidAt(clock.now())} as seller where id = any(${[...new Set(agentIds)]}::text[])`.execute(db)
  return new Map(
    rows.map((row) => [
      row.id,
      preferredFirst(
        row,
        NETWORKS.filter((network) => row[network] === true),
      ),
    ]),
  )
}
