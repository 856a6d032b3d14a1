import type { Needs } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { findUserOfWallet, findWallets } from '@market/identity/accounts'
import {
  type Agent,
  findAgentById,
  findAgents,
  hasSameOwner,
  isSellersWallet,
  lockBuyer,
} from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, BountyId } from '@market/kernel/ids'
import {
  type Bounty,
  type Claim,
  claimExpiry,
  isPastEnd,
  MAX_CLAIMS_OF_OWNER,
  MAX_PENDING_CLAIMS,
} from './bounty.ts'
import { expireDue } from './expire.ts'
import { notifyPoster } from './notifications.ts'
import { bountyNotOpen, rejectUnlessOpen } from './states.ts'
import { findClaimsOf, findPendingAgents, insertClaim, lockBounty } from './store.ts'

/** Claims an open bounty for an agent. The claim is held for the bounty's claim window. */
export function claimBounty(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  agentId: AgentId,
  { bountyId, message }: { readonly bountyId: BountyId; readonly message: string },
  keyHint?: string,
): Promise<Claim> {
  return ctx.transact(async (tx) => {
    await lockBuyer(tx, `agent:${agentId}`, keyHint)
    const agent = await findAgentById(tx, agentId)
    const locked = await lockBounty(tx, bountyId)
    const now = ctx.clock.now()
    const bounty = await expireDue(ctx, tx, locked, now)
    rejectUnlessOpen(bounty)
    if (isPastEnd(bounty, now)) throw bountyNotOpen('expired')
    rejectUnverified(agent)
    if (await isOwnBounty(tx, bounty, agent)) throw ownBounty()
    const [own] = await findClaimsOf(tx, [agentId], [bountyId])
    if (own?.status === 'pending') throw alreadyClaimed()
    // fix: rejected-claim-stays
    if (own?.status === 'rejected') throw claimRejected()
    if (bounty.pendingClaims >= MAX_PENDING_CLAIMS) throw tooManyClaims()
    // fix: claims-of-owner
    if ((await countClaimsOfOwner(tx, bountyId, agent)) >= MAX_CLAIMS_OF_OWNER) throw tooManyOfOwner()
    const claim = await insertClaim(tx, {
      id: ctx.ids.next('bcl'),
      bountyId,
      agentId,
      message,
      status: 'pending',
      createdAt: now,
      expiresAt: claimExpiry(bounty, now),
      endedAt: null,
    })
    if (claim === undefined) throw alreadyClaimed()
    await notifyPoster(ctx, tx, bounty, {
      kind: 'bounty.claimed',
      title: `${agent.name} claimed “${bounty.title}”`,
      body: `Accept the claim before ${claim.expiresAt.toISOString()}, or it expires.`,
      about: `${bounty.id}:${agentId}`,
    })
    return claim
  })
}

/** The pending claims of agents that belong to the same user or wallet, linked or not. */
async function countClaimsOfOwner(tx: Tx, bountyId: BountyId, agent: Agent): Promise<number> {
  const { ownerUserId, ownerWallet } = agent
  const userId = ownerUserId ?? (ownerWallet === null ? undefined : await findUserOfWallet(tx, ownerWallet))
  const linked = userId === undefined ? [] : await findWallets(tx, userId)
  const wallets = ownerWallet === null ? linked : [...linked, { key: ownerWallet }]
  const owner = userId === undefined ? { wallets } : { userId, wallets }
  const claimants = await findAgents(tx, await findPendingAgents(tx, bountyId))
  return claimants.filter((claimant) => hasSameOwner(claimant, owner)).length
}

/** An agent is verified once its owner proved an identity: by a wallet's signature or by a sign-in. */
function rejectUnverified({ verified }: Agent): void {
  if (verified === 1) return
  throw new ApiError(
    'forbidden',
    'The owner of this agent has no verified identity. Set owner_wallet with its signature, or sign in and link the agent; then claim again.',
    { code: 'owner_not_verified' },
  )
}

/** Whoever hires their own agent would fake its orders and ratings. */
export async function isOwnBounty(tx: Tx, { poster, clientWallet }: Bounty, agent: Agent): Promise<boolean> {
  if (poster === `agent:${agent.id}`) return true
  const { ownerUserId: userId, ownerWallet } = await ownerBehind(tx, poster)
  for (const wallet of new Set([clientWallet, ownerWallet ?? clientWallet]))
    if (await isSellersWallet(tx, wallet, agent.id)) return true
  return userId !== null && hasSameOwner(agent, { userId, wallets: await findWallets(tx, userId) })
}

/** The account that posted the bounty, or the owner of the agent that did. */
async function ownerBehind(tx: Tx, poster: Buyer): Promise<Pick<Agent, 'ownerUserId' | 'ownerWallet'>> {
  if (poster.startsWith('agent:')) return findAgentById(tx, poster.slice('agent:'.length) as AgentId)
  const isUser = poster.startsWith('user:')
  return { ownerUserId: isUser ? poster.slice('user:'.length) : null, ownerWallet: null }
}

export const ownBounty = (): ApiError =>
  new ApiError('invalid', 'An agent cannot work for its own owner’s bounty.', { code: 'own_bounty' })

const tooManyClaims = (): ApiError =>
  new ApiError(
    'conflict',
    `This bounty has ${MAX_PENDING_CLAIMS} pending claims. Try again when one of them was withdrawn or has expired.`,
    { code: 'bounty_full' },
  )

const tooManyOfOwner = (): ApiError =>
  new ApiError(
    'conflict',
    `Agents of your owner have ${MAX_CLAIMS_OF_OWNER} pending claims on this bounty, the maximum. Withdraw one of them first.`,
    { code: 'owner_claims_full' },
  )

const claimRejected = (): ApiError =>
  new ApiError('conflict', 'The poster rejected your agent’s claim on this bounty. Claim another bounty.', {
    code: 'claim_rejected',
  })

const alreadyClaimed = (): ApiError =>
  new ApiError('conflict', 'Your agent has already claimed this bounty. Withdraw the claim to change it.', {
    code: 'already_claimed',
  })
