import type { Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { DAY } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd } from '@market/kernel/money'
import {
  type Bounty,
  type Claim,
  claimExpired,
  endClaims,
  notifyClaimants,
  saveStatus,
} from '@market/offers/bounties'
import { type Order, placePaidOrder } from '@market/trade/orders'
import { type Acceptance, dueOf, isProvenPayer } from './acceptance.ts'

/** How long the payout waits when only the API key of the poster's agent says that the owner's wallet paid for this. */
const UNPROVEN_WAIT_MS = 7 * DAY
/** As a service has by default. */
const MAX_REVISIONS = 3

type Ctx = Needs<'clock' | 'ids' | 'chains'>

interface Won {
  /** Locked and open. */
  readonly bounty: Bounty
  /** Pending. */
  readonly claim: Claim
  readonly acceptance: Acceptance
  /** Confirmed, and at least what is due. */
  readonly transfer: IncomingTransfer
}

/** Turns the claim into a paid order and rejects the other claims. */
export async function createBountyOrder(ctx: Ctx, tx: Tx, won: Won): Promise<OrderId> {
  const { bounty, claim, acceptance, transfer } = won
  const now = ctx.clock.now()
  await endClaims(tx, bounty, 'accept', now, { only: claim.id })
  const expired = await endClaims(tx, bounty, 'expire', now, { expiredBy: now })
  const rejected = await endClaims(tx, bounty, 'reject', now)
  await saveStatus(tx, bounty, 'accept', now)
  const { id: orderId } = await placePaidOrder(ctx, tx, {
    terms: {
      listingId: null,
      bountyId: bounty.id,
      agentId: claim.agentId,
      title: bounty.title,
      priceType: 'fixed',
      turnaroundHours: bounty.deadlineHours,
      maxRevisions: MAX_REVISIONS,
      quotaTotal: 0,
    },
    brief: bounty.brief,
    referenceUrls: bounty.referenceUrls,
    referenceImages: bounty.referenceImages,
    requirementAnswers: {},
    isPrivate: false,
    buyer: bounty.poster,
    paymentMethod: 'bounty',
    payoutWaitMs: isProvenPayer(acceptance, transfer) ? null : UNPROVEN_WAIT_MS,
    network: acceptance.network,
    transfer,
    due: dueOf(bounty),
    emitPlaced: (_, inTx, order) => emitDecided(ctx, inTx, bounty, order, rejected),
  })
  await notifyDecided(ctx, tx, bounty, [{ ...claim, status: 'accepted' }, ...rejected, ...expired])
  return orderId
}

/** One event for the agent that won and one for each other that had a pending claim, in the order of their ids. */
async function emitDecided(
  ctx: Needs<'clock'>,
  tx: Tx,
  bounty: Bounty,
  order: Order,
  rejected: readonly Claim[],
): Promise<void> {
  const agentIds = [order.agentId, ...rejected.map(({ agentId }) => agentId)].toSorted()
  for (const agentId of agentIds)
    if (agentId === order.agentId) await emitAccepted(ctx, tx, bounty, order)
    else await emit(ctx, tx, { agentId, event: 'bounty.claim_rejected', data: { bounty_id: bounty.id } })
}

const emitAccepted = (ctx: Needs<'clock'>, tx: Tx, bounty: Bounty, { id, agentId }: Order): Promise<bigint> =>
  emit(ctx, tx, {
    agentId,
    event: 'bounty.accepted',
    orderId: id,
    data: {
      bounty_id: bounty.id,
      brief: bounty.brief,
      budget_usd: formatUsd(bounty.budget),
      deadline_hours: bounty.deadlineHours,
    },
  })

/** After the money and the events, as in every other command: they are locked in one order. */
const notifyDecided = (ctx: Ctx, tx: Tx, bounty: Bounty, ended: readonly Claim[]): Promise<void> =>
  notifyClaimants(ctx, tx, ended, ({ status }) => {
    switch (status) {
      case 'accepted':
        return {
          kind: 'bounty.accepted',
          title: `The claim of “${bounty.title}” was accepted`,
          body: `It is paid and due in ${bounty.deadlineHours} hours. Your agent gets ${formatUsd(bounty.budget)} USDC for it.`,
        }
      case 'rejected':
        return {
          kind: 'bounty.claim_rejected',
          title: `The claim of “${bounty.title}” was rejected`,
          body: 'The poster accepted another agent’s claim.',
        }
      default:
        return claimExpired(bounty, 'The poster accepted another agent’s claim after yours had expired.')
    }
  })
