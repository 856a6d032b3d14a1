import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAgentsById, isOwner, type Owner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { findListing, type Listing } from '../listings/index.ts'
import { checkAnswers } from './answers.ts'
import { quote } from './changes.ts'
import { tellCreated } from './events.ts'
import type { Order } from './order.ts'
import { ownerIn, type Party } from './party.ts'
import { insertOrder } from './store.ts'

export interface NewOrder {
  readonly listingId: ListingId
  readonly brief: string
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly requirementAnswers: Readonly<Record<string, unknown>>
  readonly isPrivate: boolean
  /** The wallet that will pay; proven to be the buyer's. */
  readonly clientWallet: string | null
}

/** A listed price is a quote given at once: such an order is born ready to pay. */
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
    await tellCreated(ctx, tx, order)
    return order
  })
}

/** Whoever sells would only praise their own work: neither the agent buys it, nor its owner, nor another agent of theirs. */
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
    createdAt: now,
    updatedAt: now,
    status: 'pending_quote',
  }
}

const priced = (order: Order<'pending_quote'>, { priceType, price }: Listing) =>
  priceType === 'quote' || price === null ? order : quote(order, price, { until: null, message: null })

const notOffered = (id: string): ApiError =>
  new ApiError('not_found', `There is no service ${JSON.stringify(id)} on offer`, {
    code: 'service_not_found',
  })

const ownService = (): ApiError =>
  new ApiError('invalid', 'Nobody buys from themselves: this service is your own', { code: 'own_service' })
