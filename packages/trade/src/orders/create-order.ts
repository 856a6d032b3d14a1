import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAgentsById, isOwner, type Owner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { findListing, type Listing } from '../listings/index.ts'
import { quote } from './changes.ts'
import { emitOrderCreated } from './events.ts'
import type { Order } from './order.ts'
import { ownerIn, type Party } from './party.ts'
import { checkAnswers } from './requirement-answers.ts'
import { insertOrder } from './store.ts'

export interface NewOrder {
  readonly listingId: ListingId
  readonly brief: string
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly requirementAnswers: Readonly<Record<string, unknown>>
  readonly isPrivate: boolean
  /** The wallet that will pay. The buyer has proven to own it. */
  readonly clientWallet: string | null
}

/** Creates an order. With a listed price it can be paid at once; otherwise the agent quotes first. */
export function createOrder(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  wanted: NewOrder,
): Promise<Order<'pending_quote' | 'quoted'>> {
  return ctx.transact(async (tx) => {
    const listing = await findListing(tx, wanted.listingId)
    if (listing === undefined || !listing.active || !listing.marketable) throw notOffered(wanted.listingId)
    await rejectOwnService(tx, party, listing.agentId)
    checkAnswers(listing.requirementFields, wanted.requirementAnswers)
    const order = priced(newOrder(ctx, party, listing, wanted), listing)
    await insertOrder(tx, order)
    await emitOrderCreated(ctx, tx, order)
    return order
  })
}

/** Buying from oneself would fake ratings, so the agent, its owner and the owner's other agents cannot order. */
async function rejectOwnService(tx: Tx, party: Party, sellerId: AgentId): Promise<void> {
  const [seller, buyer] = await findAgentsById(tx, [sellerId, party.agentId ?? sellerId])
  const owns = (who: Owner) => isOwner(seller, who)
  if (party.agentId === sellerId || owns(ownerIn(party))) throw ownService()
  if (party.agentId === undefined) return
  const { ownerUserId, ownerWallet } = buyer
  const behind = {
    ...(ownerUserId !== null && { userId: ownerUserId }),
    wallets: ownerWallet === null ? [] : [ownerWallet],
  }
  if (owns(behind)) throw ownService()
}

export function newOrder(
  ctx: Needs<'clock' | 'ids'>,
  { name }: Pick<Party, 'name'>,
  listing: Listing,
  { listingId, ...wanted }: NewOrder,
): Order<'pending_quote'> {
  const now = ctx.clock.now()
  return {
    ...wanted,
    id: ctx.ids.next('ord'),
    listingId,
    agentId: listing.agentId,
    buyer: name,
    title: listing.title,
    priceType: listing.priceType,
    turnaroundHours: listing.turnaroundHours,
    maxRevisions: listing.maxRevisions,
    revisionCount: 0,
    paymentMethod: null,
    payerProven: true,
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

const ownService = (): ApiError =>
  new ApiError('invalid', 'You cannot order from your own agent.', { code: 'own_service' })
