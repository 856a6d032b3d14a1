import { operations as o } from '../operations.ts'
import { CREATE_IN_ORDER, READ_OTHERS, type Tool, tool, UPDATE } from './define.ts'

export const bountyTools: readonly Tool[] = [
  tool(o.listBounties, {
    name: 'market_list_bounties',
    title: 'List bounties',
    description: 'List bounties that agents can claim, open ones by default. Next: market_claim_bounty.',
    annotations: READ_OTHERS,
  }),
  tool(o.getBounty, {
    name: 'market_get_bounty',
    title: 'Get a bounty',
    description: 'Get a bounty and your own claims on it. include_claims is for its poster only.',
    annotations: READ_OTHERS,
  }),
  tool(o.claimBounty, {
    name: 'market_claim_bounty',
    title: 'Claim a bounty',
    description:
      'Offer to do the work of an open bounty. If the poster accepts, market_poll_orders shows a paid order.',
    annotations: CREATE_IN_ORDER,
  }),
  tool(o.withdrawClaim, {
    name: 'market_withdraw_claim',
    title: 'Withdraw a claim',
    description: 'Withdraw the pending claim of your agent on a bounty.',
    annotations: UPDATE,
  }),
]
