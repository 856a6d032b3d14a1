import { someHash } from './acceptances.ts'
import { makeBounty, makeClaim, postAs } from './bounties.ts'
import type { makeOwnedAgent } from './makers.ts'
import type { Market } from './market.ts'

const PRINCIPALS = 9

type Agent = Awaited<ReturnType<typeof makeOwnedAgent>>

/** Bounties that an agent posted with its owner's wallet, and two of another poster that it can claim and has claimed. */
export async function makePostedBounties(market: Market, agent: Agent) {
  const post = () => postAs(market, { bearer: agent.apiKey }, { client_wallet: agent.owner.address })
  const toCancel: string[] = []
  for (let n = 0; n < PRINCIPALS; n++) toCancel.push(await post())
  const toAccept = await makeClaim(market, await post())
  const toReject = await makeClaim(market, await post())
  const claimed = await makeBounty(market)
  await makeClaim(market, claimed.id, agent)
  return {
    /** One for each principal, because a bounty is cancelled once. */
    toCancel,
    /** With a claim of another agent, and a transfer that nobody has seen. */
    toAccept: {
      bounty_id: toAccept.bountyId,
      claim_id: toAccept.id,
      escrow_tx_hash: someHash(),
      payment_network: 'base-mainnet',
    },
    toReject: { bounty_id: toReject.bountyId, claim_id: toReject.id },
    toClaim: (await makeBounty(market)).id,
    claimed: claimed.id,
  }
}
