import type { Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import type { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { DAY } from '@market/kernel/clock'
import { formatUsd } from '@market/kernel/money'
import { claimTransfer, escrowAccount } from '@market/money/payments'
import { requestPayout } from '@market/money/payouts'
import {
  type Bounty,
  type Claim,
  claimExpired,
  endClaims,
  notifyClaimants,
  notifyPoster,
  saveStatus,
} from '@market/offers/bounties'
import { type Order, placePaidOrder } from '@market/trade/orders'
import { type Acceptance, dueOf, purposeOf } from './acceptance.ts'
import { saveAcceptance } from './store.ts'

/** How long the payout waits when only the API key of the poster's agent says that the owner's wallet paid for this. */
const UNPROVEN_WAIT_MS = 7 * DAY
/** As a service has by default. */
const MAX_REVISIONS = 3

type Ctx = Needs<'clock' | 'ids'>

export interface Settled {
  /** Locked. */
  readonly bounty: Bounty
  readonly claim: Claim
  readonly acceptance: Acceptance
  /** Confirmed, and at least what is due unless it is refunded. */
  readonly transfer: IncomingTransfer
  /** Why the transfer is refunded. */
  readonly refusal: ApiError | undefined
}

/** Creates the order from the claim, or refunds the whole transfer and returns why. */
export async function settleAcceptance(ctx: Ctx, tx: Tx, settled: Settled): Promise<Acceptance | ApiError> {
  const { acceptance, refusal } = settled
  const now = ctx.clock.now()
  if (refusal !== undefined) {
    await refund(ctx, tx, settled)
    await saveAcceptance(tx, acceptance, { status: 'refunded' }, now)
    return refusal
  }
  const { id: orderId } = await createOrder(ctx, tx, settled)
  await saveAcceptance(tx, acceptance, { status: 'accepted', orderId }, now)
  return { ...acceptance, status: 'accepted', orderId }
}

async function refund(ctx: Ctx, tx: Tx, { acceptance, transfer }: Settled): Promise<void> {
  const { network } = acceptance
  const purpose = purposeOf(acceptance)
  assert(transfer.payer !== null, `${transfer.reference} was paid by a wallet`)
  await claimTransfer(ctx, tx, { network, seen: transfer, purpose, due: transfer.amount })
  await requestPayout(ctx, tx, {
    network,
    kind: 'refund',
    subject: acceptance.id,
    payee: transfer.payer,
    amount: transfer.amount,
    from: escrowAccount(network, purpose),
    purpose,
  })
}

async function createOrder(
  ctx: Ctx,
  tx: Tx,
  { bounty, claim, acceptance, transfer }: Settled,
): Promise<Order<'paid'>> {
  const now = ctx.clock.now()
  await endClaims(tx, bounty, 'accept', now, { only: claim.id })
  const expired = await endClaims(tx, bounty, 'expire', now, { expiredBy: now })
  const rejected = await endClaims(tx, bounty, 'reject', now)
  await saveStatus(tx, bounty, 'accept', now)
  const isProven = acceptance.provenPayers.includes(transfer.payer ?? '')
  const order = await placePaidOrder(ctx, tx, {
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
    payoutWaitMs: isProven ? null : UNPROVEN_WAIT_MS,
    network: acceptance.network,
    transfer,
    due: dueOf(bounty),
    emitPlaced: (_, inTx, order) => emitDecided(ctx, inTx, bounty, order, rejected),
  })
  await notifyDecided(ctx, tx, bounty, [{ ...claim, status: 'accepted' }, ...rejected, ...expired])
  return order
}

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

export const notifyRefunded = (ctx: Ctx, tx: Tx, bounty: Bounty, { message }: ApiError): Promise<void> =>
  notifyPoster(ctx, tx, bounty, {
    kind: 'bounty.transfer_refunded',
    title: `A transfer for “${bounty.title}” is refunded`,
    body: message,
  })
