import type { Actor } from '@market/core/context'
import type { AgentId, BountyId, ClaimId, OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import {
  type Bounty,
  type Claim,
  cancelBounty,
  claimBounty,
  expireBounties,
  findBounty,
  findClaim,
  postBounty,
  withdrawClaim,
} from '@market/offers/bounties'
import { agentActor } from '@market/testing/make-actor'
import { makeListedAgent } from '@market/testing/makers'
import { acceptClaim } from '@market/work/acceptances'
import { NETWORK, newBuyer, openOrderFixture, type TestBuyer } from '../orders/order-fixture.ts'

export const BUDGET = usdc(20_000_000n)
/** 110 % of the budget. */
export const ESCROW = 22_000_000n

/** An agent whose owner is verified, and that can be paid on every network. */
export interface Claimant {
  readonly agentId: AgentId
  readonly actor: Actor
}

export type BountyFixture = Awaited<ReturnType<typeof openBountyFixture>>

/** Bounties by the real commands, beside the orders of `openOrderFixture`. */
export async function openBountyFixture() {
  const orders = await openOrderFixture()
  const { ctx, db } = orders

  const makeClaimant = async (): Promise<Claimant> => {
    const { agent } = await makeListedAgent(ctx)
    return { agentId: agent.id, actor: agentActor(agent.id) }
  }
  const post = (poster: TestBuyer, wanted: Partial<Bounty> = {}): Promise<Bounty> =>
    postBounty(
      ctx,
      poster,
      {
        title: 'A poster for a concert',
        brief: 'A3, two colours, with the date in large letters.',
        category: 'image_gen',
        budget: BUDGET,
        deadlineHours: 24,
        claimWindowHours: 24,
        referenceUrls: [],
        referenceImages: [],
        ...wanted,
      },
      poster.wallet,
    )
  const claim = ({ agentId }: Claimant, bountyId: BountyId, message = ''): Promise<Claim> =>
    claimBounty(ctx, agentId, { bountyId, message })
  const accept = (poster: Actor, { id, bountyId }: Claim, reference: string) =>
    acceptClaim(ctx, poster, { bountyId, claimId: id, network: NETWORK, reference })

  return {
    ...orders,
    makeClaimant,
    post,
    claim,
    accept,
    /** A transfer of what accepting costs. */
    fund: (poster: TestBuyer, micros = ESCROW) => orders.send(poster.wallet.key, micros),
    withdraw: ({ agentId }: Claimant, bountyId: BountyId) => withdrawClaim(ctx, agentId, bountyId),
    cancelBounty: (poster: Actor, id: BountyId) => cancelBounty(ctx, poster, id),
    expire: () => expireBounties(ctx),
    bounty: (id: BountyId) => findBounty(db, id),
    claimById: async (bountyId: BountyId, id: ClaimId) => findClaim(db, bountyId, id),
    /** A bounty with one accepted claim, and its order. */
    async accepted(poster: TestBuyer = newBuyer(), claimant?: Claimant) {
      const winner = claimant ?? (await makeClaimant())
      const bounty = await post(poster)
      const won = await claim(winner, bounty.id)
      const { orderId } = await accept(poster, won, orders.send(poster.wallet.key, ESCROW))
      if (orderId === null) throw new Error('the transfer was confirmed')
      return { poster, winner, bounty, claim: won, orderId: orderId as OrderId }
    },
  }
}
