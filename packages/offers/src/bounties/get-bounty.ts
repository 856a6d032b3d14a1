import type { Actor, Needs } from '@market/core/context'
import { type Agent, findAgents, payableNetworks } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { BountyId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { type Bounty, type Claim, isPoster } from './bounty.ts'
import { agentsOf } from './my-bounties.ts'
import { findBounty, findClaims, findClaimsOf } from './store.ts'

/** Claims that were withdrawn, rejected or have expired: a poster reads the newest of them. */
const MAX_ENDED = 80

/** A claim as the poster sees it: with its agent, and the networks on which a pending claim can be paid. */
export interface PostedClaim {
  readonly claim: Claim
  readonly agent: Agent
  readonly payableOn: readonly Network[]
}

export interface BountyView {
  readonly bounty: Bounty
  readonly isPoster: boolean
  /** For the poster who asks for them; undefined otherwise. */
  readonly claims: readonly PostedClaim[] | undefined
  /** The newest claims of the caller's own agents. */
  readonly own: readonly Claim[]
}

/** Public, except for the claims: only the poster reads them. */
export async function getBounty(
  ctx: Needs<'db' | 'clock'>,
  actor: Actor,
  id: BountyId,
  includeClaims: boolean,
): Promise<BountyView> {
  const bounty = await findBounty(ctx.db, id)
  const posted = isPoster(bounty, actor)
  if (includeClaims && !posted) throw claimsNotFound()
  const claims = includeClaims ? await findPosted(ctx, id) : undefined
  const own = await findClaimsOf(ctx.db, await agentsOf(ctx.db, actor), [id])
  return { bounty, isPoster: posted, claims, own }
}

async function findPosted(ctx: Needs<'db' | 'clock'>, id: BountyId): Promise<PostedClaim[]> {
  const claims = await findClaims(ctx.db, id, MAX_ENDED)
  const agents = await findAgents(ctx.db, [...new Set(claims.map(({ agentId }) => agentId))])
  return Promise.all(
    claims.map(async (claim) => {
      const agent = agents.find((one) => one.id === claim.agentId)
      assert(agent !== undefined, `${claim.agentId} exists`)
      return {
        claim,
        agent,
        payableOn: claim.status === 'pending' ? await payableNetworks(ctx, ctx.db, agent) : [],
      }
    }),
  )
}

const claimsNotFound = (): ApiError =>
  new ApiError('not_found', 'Only the poster can read the claims of a bounty. Leave out include_claims.', {
    code: 'claims_not_found',
  })
