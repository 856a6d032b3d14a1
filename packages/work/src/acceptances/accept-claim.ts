import { type Actor, type Needs, ownerWallets, payerWallets } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { findAgentById, isSellersWallet, lockPrincipal } from '@market/identity/agents'
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
  isHeld,
  isOwnBounty,
  lockBounty,
  ownBounty,
  requirePoster,
} from '@market/offers/bounties'
import { isOwnersPayment, networkProblem, ownersPayment } from '@market/trade/orders'
import { releaseContested } from '@market/trade/x402'
import { type Acceptance, claimEnded, dueOf, purposeOf, refusalOf } from './acceptance.ts'
import { settleAcceptance } from './settle-acceptance.ts'
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
 * The chain is queried before the transaction starts. Under the bounty's lock one acceptance wins; a transfer that was
 * named for one that cannot win any more is refunded. A transfer without enough confirmations is waited for, and the claim
 * and the bounty do not expire meanwhile.
 */
export async function acceptClaim(ctx: Ctx, actor: Actor, wanted: AcceptClaim): Promise<Acceptance> {
  const { bountyId, claimId, network, reference } = wanted
  const bounty = await findBounty(ctx.db, bountyId)
  requirePoster(bounty, actor)
  if ((await findClaim(ctx.db, bountyId, claimId)) === undefined) throw claimNotFound(claimId)
  const known = await findAcceptance(ctx.db, wanted)
  if (known !== undefined) return again(known)
  const payers = payersOf(actor, network)
  const transfer = await findTransfer(ctx, bounty, wanted, payers)

  return ctx.transact(async (tx) => {
    await lockPrincipal(tx, bounty.poster)
    const now = ctx.clock.now()
    const locked = await lockBounty(tx, bountyId)
    const claim = await findClaim(tx, bountyId, claimId)
    if (claim === undefined) throw claimNotFound(claimId)
    const named = await findAcceptance(tx, wanted)
    if (named !== undefined) return again(named)
    // Before anything else: whatever becomes of the claim, an order must not be paid out with the poster's transfer.
    const contest = await releaseContested(ctx, tx, {
      network,
      reference,
      index: transfer instanceof ApiError ? undefined : transfer?.index,
      buyer: bounty.poster,
      payers: payerWallets(actor, network),
    })
    if (contest instanceof ApiError) return new CommitThenReject(contest)
    const problem =
      transfer instanceof ApiError
        ? transfer
        : await problemOf(ctx, tx, actor, claim, locked, wanted, transfer)
    if (problem !== undefined && contest === 'released') return new CommitThenReject(problem)
    if (problem !== undefined) throw problem
    const acceptance: Acceptance = {
      ...wanted,
      id: ctx.ids.next('bac'),
      provenPayers: payerWallets(actor, network),
      status: 'waiting',
      orderId: null,
      createdAt: now,
    }
    await insertAcceptance(tx, acceptance)
    const refusal =
      refusalOf(locked, claim) ?? (isHeld(locked, claim, now) ? undefined : claimEnded('expired'))
    if (transfer === undefined || transfer instanceof ApiError) {
      await awaitTransfer(ctx, tx, locked, claim, acceptance, payers)
      return refusal === undefined ? acceptance : new CommitThenReject(refusal)
    }
    const settled = await settleAcceptance(ctx, tx, { bounty: locked, claim, acceptance, transfer, refusal })
    return settled instanceof ApiError ? new CommitThenReject(settled) : settled
  })
}

/** The same transfer was named for the claim before. */
function again(acceptance: Acceptance): Acceptance {
  if (acceptance.status !== 'refunded') return acceptance
  throw new ApiError(
    'conflict',
    'This transfer did not accept the claim and is refunded to the wallet that made it.',
    {
      code: 'transfer_refunded',
    },
  )
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
  { agentId }: Claim,
  bounty: Bounty,
  payment: AcceptClaim,
  transfer: IncomingTransfer | undefined,
): Promise<ApiError | undefined> {
  if (await isOwnersPayment(tx, actor, undefined, payment, transfer)) return ownersPayment()
  const isSellers = transfer?.payer != null && (await isSellersWallet(tx, transfer.payer, agentId))
  if (isSellers || (await isOwnBounty(tx, bounty, await findAgentById(tx, agentId)))) return ownBounty()
  return networkProblem(ctx, tx, { agentId }, payment)
}

async function awaitTransfer(
  ctx: Ctx,
  tx: Tx,
  bounty: Bounty,
  claim: Claim,
  acceptance: Acceptance,
  payers: readonly string[],
): Promise<void> {
  const { network, reference, createdAt } = acceptance
  await openIntent(ctx, tx, {
    purpose: purposeOf(acceptance),
    network,
    reference,
    payers,
    due: dueOf(bounty),
    notBefore: earlier(bounty.createdAt, BLOCK_TIME_SLACK_MS),
    submission: null,
  })
  if (refusalOf(bounty, claim) === undefined && isHeld(bounty, claim, createdAt))
    await extendExpiry(tx, claim, awaitedUntil(createdAt))
}
