import type { Actor } from '@market/core/context'
import type { OwnWallet } from '@market/core/ports/signatures'
import { SECOND } from '@market/kernel/clock'
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
import { claimPurpose } from '@market/work/acceptances'
import { sql } from 'kysely'
import { NETWORK, newBuyer, openOrderFixture, type Seller } from '../orders/order-fixture.ts'
import { acceptances, payByTransfer } from '../support/named-transfers.ts'

export const BUDGET = usdc(20_000_000n)
/** 110 % of the budget. */
export const ESCROW = 22_000_000n

/** An agent whose owner is verified, and that can be paid on every network. */
export interface Claimant {
  readonly agentId: AgentId
  readonly actor: Actor
}

/** A caller who posts, and the wallet that pays. */
export type Poster = Actor & { readonly wallet: OwnWallet }

export type BountyFixture = Awaited<ReturnType<typeof openBountyFixture>>

/** Bounties by the real commands, beside the orders of `openOrderFixture`. */
export async function openBountyFixture() {
  const orders = await openOrderFixture()
  const { ctx, db } = orders

  const makeClaimant = async (): Promise<Claimant> => {
    const { agent } = await makeListedAgent(ctx)
    return { agentId: agent.id, actor: agentActor(agent.id) }
  }
  const postAs = (poster: Actor, wallet: OwnWallet, wanted: Partial<Bounty> = {}): Promise<Bounty> =>
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
      wallet,
    )
  const post = (poster: Poster, wanted: Partial<Bounty> = {}): Promise<Bounty> =>
    postAs(poster, poster.wallet, wanted)
  const claim = ({ agentId }: Claimant, bountyId: BountyId, message = ''): Promise<Claim> =>
    claimBounty(ctx, agentId, { bountyId, message })
  const accept = (poster: Actor, { id, bountyId }: Claim, reference: string) =>
    payByTransfer(ctx, poster, claimPurpose, { bountyId, claimId: id, network: NETWORK, reference }).then(
      ({ acceptance }) => acceptance,
    )

  return {
    ...orders,
    makeClaimant,
    post,
    postAs,
    claim,
    accept,
    /** A transfer of what accepting costs. */
    fund: (poster: Poster, micros = ESCROW) => orders.send(poster.wallet.key, micros),
    withdraw: ({ agentId }: Claimant, bountyId: BountyId) => withdrawClaim(ctx, agentId, bountyId),
    cancelBounty: (poster: Actor, id: BountyId) => cancelBounty(ctx, poster, id),
    expire: () => expireBounties(ctx),
    deliverBy: ({ actor }: Claimant, id: OrderId) => orders.deliver({ provider: actor } as Seller, id),
    /** The chain drops the newest block for good, as the worker sees it. */
    async dropLastBlock(): Promise<void> {
      orders.chain.reorg(1)
      orders.chain.finalize(0)
      orders.clock.advance(6 * SECOND)
      await orders.recheck()
    },
    bounty: (id: BountyId) => findBounty(db, id),
    claimById: async (bountyId: BountyId, id: ClaimId) => findClaim(db, bountyId, id),
    /** What the ledger holds for refunds of transfers that accepted nothing. */
    async refundsOf(bountyId: BountyId): Promise<{ payee: string; amount: bigint; escrow: bigint }[]> {
      const { rows } = await sql<{ payee: string; amount: bigint; escrow: bigint }>`
        select payout.payee, payable.balance_micros as amount, coalesce(held.balance_micros, 0)::bigint as escrow
        from ${acceptances} as acceptance
        join payouts as payout
          on payout.subject = acceptance.id and payout.kind = 'refund' and payout.state <> 'withdrawn'
        join ledger_accounts as payable on payable.id = ${`payable:${NETWORK}:`} || payout.id
        left join ledger_accounts as held on held.id = ${`escrow:${NETWORK}:bounty:`} || acceptance.id
        where acceptance.bounty_id = ${bountyId} order by acceptance.created_at`.execute(db)
      return rows
    },
    /** The worker looks for the transfers that are waited for. */
    async checkIntents(): Promise<void> {
      orders.clock.advance(3_000)
      await orders.finish()
    },
    /** A bounty with one accepted claim, and its order. */
    async accepted(poster: Poster = newBuyer(), claimant?: Claimant) {
      const winner = claimant ?? (await makeClaimant())
      const bounty = await post(poster)
      const won = await claim(winner, bounty.id)
      const { orderId } = await accept(poster, won, orders.send(poster.wallet.key, ESCROW))
      if (orderId === null) throw new Error('the transfer was confirmed')
      return { poster, winner, bounty, claim: won, orderId: orderId as OrderId }
    },
  }
}
