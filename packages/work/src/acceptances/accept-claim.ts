import { type Actor, type Needs, ownerWallets, payerWallets } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject, type Db, type Tx } from '@market/database/transact'
import { lockBuyer, lockPrincipal } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { earlier, FOREVER, MINUTE } from '@market/kernel/clock'
import type { BountyId, ClaimId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { awaitedUntil, findPayment, openIntent } from '@market/money/payments'
import {
  type Bounty,
  type Claim,
  claimNotFound,
  extendExpiry,
  findBounty,
  findClaim,
  lockBounty,
  ownBounty,
  requirePoster,
} from '@market/offers/bounties'
import { isOwnersPayment, networkProblem, ownersPayment } from '@market/trade/orders'
import { releaseContested } from '@market/trade/x402'
import { type Acceptance, bountyProblem, claimProblem, dueOf, lateRefund, purposeOf } from './acceptance.ts'
import { createBountyOrder } from './create-bounty-order.ts'
import { isOwn } from './own-bounty.ts'
import { refundTransfer } from './refund-transfer.ts'
import { findAcceptance, insertAcceptance } from './store.ts'

/** Block times are coarse: a transfer can appear to be a little older than the bounty it was made for. */
const BLOCK_TIME_SLACK_MS = 1 * MINUTE

export interface AcceptClaim {
  readonly bountyId: BountyId
  readonly claimId: ClaimId
  readonly network: Network
  /** A Solana signature or an EVM transaction hash, normalized. */
  readonly reference: string
}

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains' | 'vault'>

/**
 * Accepts a claim with a transfer of 110 % of the budget that the poster already made: the claim becomes a paid order.
 *
 * The chain is queried before the transaction starts. Under the bounty's lock one acceptance wins, and a transfer that was
 * named too late is refunded. While only the claim has ended, the transfer stays unused: it can accept another claim. A
 * transfer without enough confirmations is waited for, and the claim and the bounty do not expire meanwhile.
 */
export async function acceptClaim(
  ctx: Ctx,
  actor: Actor,
  wanted: AcceptClaim,
  /** Of the API key that the request was authenticated with. */
  keyHint?: string,
): Promise<Acceptance> {
  const { bountyId, network, reference } = wanted
  const bounty = await findBounty(ctx.db, bountyId)
  requirePoster(bounty, actor)
  await requireClaim(ctx.db, wanted)
  const known = await findAcceptance(ctx.db, wanted)
  if (known !== undefined) return ctx.transact(async () => again(known, wanted))
  const payers = payersOf(actor, network)
  const transfer = await findTransfer(ctx, bounty, wanted, payers)

  return ctx.transact(async (tx) => {
    if (actor.kind === 'agent') await lockBuyer(tx, `agent:${actor.agentId}`, keyHint)
    await lockPrincipal(tx, bounty.poster)
    const now = ctx.clock.now()
    const locked = await lockBounty(tx, bountyId)
    const claim = await requireClaim(tx, wanted)
    const named = await findAcceptance(tx, wanted)
    if (named !== undefined) return again(named, wanted)
    // Before anything else: whatever becomes of the claim, an order must not be paid out with the poster's transfer.
    const contest = await releaseContested(ctx, tx, {
      network,
      reference,
      index: transfer instanceof ApiError ? undefined : transfer?.index,
      buyer: bounty.poster,
      payers: payerWallets(actor, network),
    })
    if (contest instanceof ApiError) return new CommitThenReject(contest)
    const reject = (error: ApiError): CommitThenReject => {
      if (contest === 'released') return new CommitThenReject(error)
      throw error
    }
    if (transfer instanceof ApiError) return reject(transfer)
    const acceptance: Acceptance = {
      ...wanted,
      id: ctx.ids.next('bac'),
      provenPayers: payerWallets(actor, network),
      status: 'waiting',
      orderId: null,
      createdAt: now,
    }
    const refund = lateRefund(acceptance, transfer, payers)
    const ended = bountyProblem(locked, refund)
    const problem =
      ended === undefined
        ? (claimProblem(locked, claim, now) ??
          (await problemOf(ctx, tx, actor, claim, locked, wanted, transfer)))
        : refund === 'never'
          ? ended
          : undefined
    if (problem !== undefined) return reject(problem)
    await insertAcceptance(tx, acceptance)
    if (transfer === undefined) {
      await awaitTransfer(ctx, tx, locked, acceptance, payers)
      if (ended !== undefined) return new CommitThenReject(ended)
      await extendExpiry(tx, claim, awaitedUntil(now))
      return acceptance
    }
    if (ended === undefined)
      return createBountyOrder(ctx, tx, { bounty: locked, claim, acceptance, transfer })
    await refundTransfer(ctx, tx, { bounty: locked, acceptance, transfer }, ended)
    return new CommitThenReject(ended)
  })
}

async function requireClaim(db: Db | Tx, { bountyId, claimId }: AcceptClaim): Promise<Claim> {
  const claim = await findClaim(db, bountyId, claimId)
  if (claim === undefined) throw claimNotFound(claimId)
  return claim
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

/** Only wallets of the poster count. Otherwise anyone could use another user's transfer. */
function payersOf(actor: Actor, network: Network): string[] {
  const own = [...payerWallets(actor, network), ...ownerWallets(actor, network)]
  if (own.length > 0) return [...new Set(own)]
  throw new ApiError(
    'invalid',
    `No wallet of yours is proven on ${network}. Sign this request with the wallet that paid, or link it to your account.`,
    { code: 'payer_unknown' },
  )
}

/** The transfer, undefined while it is not confirmed, or why it cannot pay. */
async function findTransfer(
  ctx: Ctx,
  bounty: Bounty,
  { network, reference }: AcceptClaim,
  payers: readonly string[],
): Promise<IncomingTransfer | undefined | ApiError> {
  try {
    return await findPayment(ctx, network, {
      reference,
      minAmount: dueOf(bounty),
      payers,
      notBefore: earlier(bounty.createdAt, BLOCK_TIME_SLACK_MS),
      notAfter: FOREVER,
    })
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Why the request is wrong. The transfer stays unused, and the poster can name it again. */
async function problemOf(
  ctx: Ctx,
  tx: Tx,
  actor: Actor,
  claim: Claim,
  bounty: Bounty,
  payment: AcceptClaim,
  transfer: IncomingTransfer | undefined,
): Promise<ApiError | undefined> {
  if (await isOwnersPayment(tx, actor, undefined, payment, transfer)) return ownersPayment()
  if (await isOwn(tx, bounty, claim, transfer?.payer ?? null)) return ownBounty()
  return networkProblem(ctx, tx, claim, payment)
}

/** The worker settles the acceptance when the transfer is confirmed. */
async function awaitTransfer(
  ctx: Ctx,
  tx: Tx,
  bounty: Bounty,
  acceptance: Acceptance,
  payers: readonly string[],
): Promise<void> {
  const { network, reference } = acceptance
  await openIntent(ctx, tx, {
    purpose: purposeOf(acceptance),
    network,
    reference,
    payers,
    due: dueOf(bounty),
    notBefore: earlier(bounty.createdAt, BLOCK_TIME_SLACK_MS),
    submission: null,
  })
}
