import type { Actor, Needs } from '@market/core/context'
import type { WalletEvidence } from '@market/core/ports/signatures'
import type { Db, Tx } from '@market/database/transact'
import { findWallets } from '@market/identity/accounts'
import { findAgentsById, hasSameOwner, lockBuyer, type Owner, ownerIn } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { findListing, isBelow, type Listing } from '@market/offers/listings'
import { quote } from './changes.ts'
import { emitOrderCreated } from './events.ts'
import type { Buyer, Order } from './order.ts'
import { buyerOf } from './order-role.ts'
import { type Offered, withNetworks } from './payment/payable-networks.ts'
import { checkAnswers } from './requirement-answers.ts'
import { insertOrder } from './store.ts'
import { quotaOf } from './workspace.ts'

/** What the buyer gives. */
export interface NewOrder {
  /** Empty when the buyer gives none: the service and the answers can say enough. */
  readonly brief: string
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly requirementAnswers: Readonly<Record<string, unknown>>
  readonly isPrivate: boolean
  /** The wallet that will pay. The buyer has proven to own it. */
  readonly clientWallet: string | null
  /** How that wallet was proven; absent for a linked wallet. */
  readonly clientProvenBy?: WalletEvidence | null
}

/** What is ordered: from a listing or a bounty. Later changes of it do not change the order. */
export type Terms = Pick<
  Order,
  | 'listingId'
  | 'bountyId'
  | 'agentId'
  | 'title'
  | 'priceType'
  | 'turnaroundHours'
  | 'maxRevisions'
  | 'quotaTotal'
>

export const termsOf = (listing: Listing): Terms => ({
  listingId: listing.id,
  bountyId: null,
  agentId: listing.agentId,
  title: listing.title,
  priceType: listing.priceType,
  turnaroundHours: listing.turnaroundHours,
  maxRevisions: listing.maxRevisions,
  quotaTotal: quotaOf(listing),
})

export type WantedOrder = NewOrder & { readonly listingId: ListingId }

type Ctx = Needs<'clock' | 'ids' | 'minPrice'>

/** Creates an order. With a listed price it can be paid at once; otherwise the agent quotes first. */
export const createOrder = (
  ctx: Ctx & Needs<'transact'>,
  actor: Actor,
  wanted: WantedOrder,
  /** Of the API key that the request was authenticated with. */
  keyHint?: string,
): Promise<Offered<'pending_quote' | 'quoted'>> =>
  ctx.transact(async (tx) => withNetworks(ctx, tx, await placeOrder(ctx, tx, actor, wanted, keyHint)))

/** Saves a new order. */
export async function placeOrder(
  ctx: Ctx,
  tx: Tx,
  actor: Actor,
  wanted: WantedOrder,
  keyHint: string | undefined,
): Promise<Order<'pending_quote' | 'quoted'>> {
  const order = await prepareOrder(ctx, tx, actor, wanted)
  await lockBuyer(tx, order.buyer, keyHint)
  await insertOrder(tx, order)
  await emitOrderCreated(ctx, tx, order)
  return order
}

/** The order as it would be now. Rejects what cannot be ordered. */
export async function prepareOrder(
  ctx: Ctx,
  db: Db | Tx,
  actor: Actor,
  { listingId, ...wanted }: WantedOrder,
): Promise<Order<'pending_quote' | 'quoted'>> {
  const listing = await findListing(db, listingId)
  // The listing of an agent without an owner is not advertised, and can be ordered by its id.
  if (listing === undefined || !listing.active) throw notOffered(listingId)
  if (isBelow(listing, ctx.minPrice)) throw belowMinimum(ctx.minPrice)
  await rejectOwnService(db, actor, listing.agentId)
  checkAnswers(listing.requirementFields, wanted.requirementAnswers, { requiresAll: true })
  return priced(newOrder(ctx, buyerOf(actor), termsOf(listing), wanted), listing)
}

/** Buying from oneself would fake ratings, so the agent, its owner and the owner's other agents cannot order. */
export async function rejectOwnService(db: Db | Tx, actor: Actor, sellerId: AgentId): Promise<void> {
  const buyerId = actor.kind === 'agent' ? actor.agentId : undefined
  const [seller, buyer] = await findAgentsById(db, [sellerId, buyerId ?? sellerId])
  const owns = (who: Owner) => hasSameOwner(seller, who)
  if (buyerId === sellerId || owns(ownerIn(actor))) throw ownService()
  if (buyerId === undefined) return
  const { ownerUserId, ownerWallet } = buyer
  const own = ownerWallet === null ? [] : [{ key: ownerWallet }]
  const linked = ownerUserId === null ? [] : await findWallets(db, ownerUserId)
  const behind = { ...(ownerUserId !== null && { userId: ownerUserId }), wallets: [...own, ...linked] }
  if (owns(behind)) throw ownService()
}

export function newOrder(
  ctx: Needs<'clock' | 'ids'>,
  buyer: Buyer,
  terms: Terms,
  wanted: NewOrder,
): Order<'pending_quote'> {
  const now = ctx.clock.now()
  return {
    ...wanted,
    ...terms,
    clientProvenBy: wanted.clientProvenBy ?? null,
    id: ctx.ids.next('ord'),
    buyer,
    revisionCount: 0,
    quotaUsed: 0,
    quotaPending: 0,
    workspaceEndsAt: null,
    paymentMethod: null,
    forPrincipal: false,
    payerProven: true,
    agentPart: null,
    quotaFailed: 0,
    payoutWaitsUntil: null,
    contest: null,
    createdAt: now,
    updatedAt: now,
    status: 'pending_quote',
  }
}

const priced = (order: Order<'pending_quote'>, { priceType, price }: Listing) =>
  priceType === 'quote' || price === null ? order : quote(order, price, { until: null, message: null })

const notOffered = (id: string): ApiError =>
  new ApiError('not_found', `Service ${JSON.stringify(id)} does not exist or is not active.`, {
    code: 'service_not_found',
  })

const belowMinimum = (minPrice: Usdc): ApiError =>
  new ApiError(
    'conflict',
    `The price of this service is below the minimum of ${formatUsd(minPrice)} USD. Its agent must raise it first.`,
    { code: 'price_below_minimum' },
  )

export const ownService = (): ApiError =>
  new ApiError('invalid', 'You cannot order from your own agent.', { code: 'own_service' })
