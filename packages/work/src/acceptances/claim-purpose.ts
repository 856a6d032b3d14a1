import { payerWallets } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { findAgentById, isSellersWallet, lockBuyer, lockPrincipal } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { EVER, earlier, MINUTE } from '@market/kernel/clock'
import type { BountyId, ClaimId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import {
  awaitedUntil,
  claimTransfer,
  escrowAccount,
  NamedBefore,
  openIntent,
  ownersPayment,
  type PurposeRule,
} from '@market/money/payments'
import { requestPayout, withdrawPayout } from '@market/money/payouts'
import {
  type Bounty,
  type Claim,
  claimNotFound,
  extendExpiry,
  findBounty,
  findClaim,
  isOwnBounty,
  lockBounty,
  notifyPoster,
  ownBounty,
  requirePoster,
} from '@market/offers/bounties'
import { networkProblem } from '@market/trade/orders'
import {
  type Acceptance,
  bountyProblem,
  claimProblem,
  dueOf,
  lateRefund,
  purposeOf,
  storedOf,
} from './acceptance.ts'
import { createBountyOrder } from './create-bounty-order.ts'
import { findAcceptance, findAcceptanceById } from './store.ts'

/** Block times are coarse: a transfer can appear to be a little older than the bounty it was made for. */
const BLOCK_TIME_SLACK_MS = 1 * MINUTE

interface AcceptClaim {
  readonly bountyId: BountyId
  readonly claimId: ClaimId
  readonly network: Network
  /** A Solana signature or an EVM transaction hash, normalized. */
  readonly reference: string
}

/** A claim that is accepted with a transfer. Bounty and claim are as they are when the bounty is locked. */
interface Accepted {
  readonly bounty: Bounty
  readonly claim: Claim
  readonly acceptance: Acceptance
}

/**
 * A poster accepts a claim with a transfer of 110 % of the budget: the claim becomes a paid order. Under the bounty's lock
 * one acceptance wins, and a transfer that was named too late is refunded. While only the claim has ended, the transfer stays
 * unused: it can accept another claim. The claim and the bounty do not expire while a transfer is waited for.
 */
export const claimPurpose: PurposeRule<'bounty', AcceptClaim, Accepted> = {
  purposeOf: ({ acceptance }) => purposeOf(acceptance),
  due: ({ bounty }) => dueOf(bounty),
  notBefore: ({ bounty }) => earlier(bounty.createdAt, BLOCK_TIME_SLACK_MS),
  buyerOf: ({ bounty }) => bounty.poster,
  stored: ({ acceptance }) => storedOf(acceptance),

  async begin(ctx, { actor, wanted, keyHint }) {
    const bounty = await findBounty(ctx.db, wanted.bountyId)
    requirePoster(bounty, actor)
    const claim = await requireClaim(ctx.db, wanted)
    const acceptance: Acceptance = {
      ...wanted,
      id: ctx.ids.next('bac'),
      provenPayers: payerWallets(actor, wanted.network),
      status: 'waiting',
      orderId: null,
      confirmations: null,
      required: null,
      createdAt: ctx.clock.now(),
    }
    const known = await findAcceptance(ctx.db, wanted)
    if (known !== undefined)
      return new NamedBefore(async () => ({ bounty, claim, acceptance: again(known, wanted) }))
    return {
      target: { bounty, claim, acceptance },
      async lock(tx) {
        if (actor.kind === 'agent') await lockBuyer(tx, `agent:${actor.agentId}`, keyHint)
        const locked = await lockPosted(tx, bounty)
        const present = { bounty: locked, claim: await requireClaim(tx, wanted) }
        const named = await findAcceptance(tx, wanted)
        return named === undefined
          ? { ...present, acceptance: { ...acceptance, createdAt: ctx.clock.now() } }
          : new NamedBefore(async () => ({ ...present, acceptance: again(named, wanted) }))
      },
    }
  },

  async lock(tx, { purpose }) {
    const { bountyId, claimId } = await findAcceptanceById(tx, purpose.id)
    const bounty = await lockPosted(tx, await findBounty(tx, bountyId))
    const acceptance = await findAcceptanceById(tx, purpose.id)
    return acceptance.status === 'waiting'
      ? { bounty, claim: await requireClaim(tx, { bountyId, claimId }), acceptance }
      : undefined
  },

  late({ bounty, acceptance }, { payers, transfer }) {
    if (transfer instanceof ApiError) return undefined
    const refund = lateRefund(acceptance, transfer, payers)
    return refund === 'never' ? undefined : bountyProblem(bounty, refund)
  },

  async check(ctx, tx, target, { network, reference, transfer }, naming) {
    const { bounty, claim, acceptance } = target
    if (transfer instanceof ApiError) throw transfer
    const problem =
      bountyProblem(bounty, 'never') ??
      claimProblem(bounty, claim, acceptance.createdAt) ??
      (naming && (await ownersPayment(tx, purposeOf(acceptance), naming))) ??
      ((await isOwn(tx, bounty, claim, transfer?.payer ?? null)) ? ownBounty() : undefined) ??
      (naming && (await networkProblem(ctx, tx, claim, { network, reference })))
    if (problem !== undefined) throw problem
    return target
  },

  async onNamed(ctx, tx, target, _, transfer) {
    const { bounty, claim } = target
    if (transfer === undefined && bounty.status === 'open')
      await extendExpiry(tx, claim, awaitedUntil(ctx.clock.now()))
    return target
  },

  async onPaid(ctx, tx, target, { transfer }) {
    const orderId = await createBountyOrder(ctx, tx, { ...target, transfer })
    return { ...target, acceptance: { ...target.acceptance, status: 'accepted', orderId } }
  },

  /** The whole transfer is refunded, and the poster is told why. */
  async onLate(ctx, tx, { bounty, acceptance }, { network, transfer }, { message }) {
    const purpose = purposeOf(acceptance)
    const { amount, payer: payee } = transfer
    assert(payee !== null, `${transfer.reference} was paid by a wallet`)
    await claimTransfer(ctx, tx, { network, seen: transfer, purpose, due: amount })
    const from = escrowAccount(network, purpose)
    const refund = { network, kind: 'refund', subject: acceptance.id, payee, amount, from, purpose } as const
    await requestPayout(ctx, tx, refund)
    await notifyPoster(ctx, tx, bounty, {
      kind: 'bounty.transfer_refunded',
      title: `A transfer for “${bounty.title}” is refunded`,
      body: message,
    })
  },

  onFailed: (ctx, tx, { bounty }, { message }) =>
    notifyPoster(ctx, tx, bounty, {
      kind: 'bounty.payment_failed',
      title: `The payment for “${bounty.title}” was not accepted`,
      body: message,
    }),

  /** A reorganization removed a transfer that was refunded. If it is included again, it is refunded again. */
  async onReversed(ctx, tx, { network, reference, payer, purpose, due }) {
    const acceptance = await findAcceptanceById(tx, purpose.id)
    await lockPosted(tx, await findBounty(tx, acceptance.bountyId))
    const to = escrowAccount(network, purpose)
    await withdrawPayout(ctx, tx, { kind: 'refund', subject: acceptance.id, to })
    const payers = payer === null ? null : [payer]
    const again = { purpose, network, reference, payers, due, notBefore: EVER, submission: null }
    await openIntent(ctx, tx, { ...again, ...storedOf(acceptance) })
  },
}

async function requireClaim(
  db: Db | Tx,
  { bountyId, claimId }: Pick<AcceptClaim, 'bountyId' | 'claimId'>,
): Promise<Claim> {
  const claim = await findClaim(db, bountyId, claimId)
  if (claim === undefined) throw claimNotFound(claimId)
  return claim
}

/** In this order everywhere: the poster's account, then the bounty. */
async function lockPosted(tx: Tx, { id, poster }: Bounty): Promise<Bounty> {
  await lockPrincipal(tx, poster)
  return lockBounty(tx, id)
}

/** The same transaction was named for the bounty before. */
function again(acceptance: Acceptance, { claimId }: AcceptClaim): Acceptance {
  if (acceptance.status === 'refunded')
    throw new ApiError(
      'conflict',
      'This transfer came too late for the bounty and is refunded to the wallet that made it.',
      { code: 'transfer_refunded' },
    )
  if (acceptance.claimId === claimId) return acceptance
  throw new ApiError('conflict', 'This transfer is named for another claim of this bounty.', {
    code: 'transfer_used',
  })
}

/** Whether the agent would be hired or paid by its own owner. The payer is known once the transfer is confirmed. */
async function isOwn(tx: Tx, bounty: Bounty, { agentId }: Claim, payer: string | null): Promise<boolean> {
  if (payer !== null && (await isSellersWallet(tx, payer, agentId))) return true
  return isOwnBounty(tx, bounty, await findAgentById(tx, agentId))
}
