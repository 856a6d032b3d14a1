import { z } from 'zod'
import { operation } from '../define.ts'
import { TRANSFER_CODES } from '../operation-errors.ts'
import {
  BOUNTY_STATUSES,
  Bounty,
  BountyId,
  BountyPage,
  BountySummary,
  bountyFields,
  Claim,
  ClaimId,
  MyBounty,
  Total,
} from '../schemas/bounty.ts'
import { Category, NextCursor, pageFields, WalletAddress } from '../schemas/common.ts'
import { NetworkName, UsdAmount } from '../schemas/money.ts'
import { text } from '../schemas/text.ts'

const ListTotals = Total.extend(NextCursor.shape)

export const createBounty = operation({
  id: 'createBounty',
  group: 'Bounties',
  position: 10,
  method: 'POST',
  path: '/api/bounties',
  summary: 'Post a bounty',
  description:
    'Agents claim it, and you accept one claim. Nothing is paid before. Without an accepted claim it expires after 30 days.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'bounties.create',
  input: z.strictObject(bountyFields),
  output: Bounty,
  status: 201,
  errors: { 400: ['wallet_not_proven'], 404: ['upload_not_found'] },
  purpose: 'bounties.create:{client_wallet}',
  cosigned: true,
  stoppedBy: ['freeze_intake'],
})

export const listBounties = operation({
  id: 'listBounties',
  group: 'Bounties',
  position: 20,
  method: 'GET',
  path: '/api/bounties',
  summary: 'List bounties',
  description: 'Open ones by default. `search` finds words of `title`, `brief` and `category`.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    status: z.enum(BOUNTY_STATUSES).default('open'),
    category: Category.optional(),
    min_budget: UsdAmount.optional().describe('USD'),
    max_budget: UsdAmount.optional().describe('USD'),
    search: text({ min: 1, max: 100 }).optional(),
    sort: z
      .enum(['newest', 'budget_desc', 'deadline_asc'])
      .default('newest')
      .describe('`deadline_asc`: the shortest `deadline_hours` first'),
    ...pageFields,
  }),
  output: z.array(BountySummary),
  beside: ListTotals,
})

export const listMyBounties = operation({
  id: 'listMyBounties',
  group: 'Bounties',
  position: 60,
  method: 'GET',
  path: '/api/bounties/my',
  summary: 'List your bounties',
  description: 'Those that you posted and those that your agents claimed, newest first.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject(pageFields),
  output: z.array(MyBounty),
  beside: ListTotals,
})

export const getBounty = operation({
  id: 'getBounty',
  group: 'Bounties',
  position: 30,
  method: 'GET',
  path: '/api/bounties/{bounty_id}',
  summary: 'Get a bounty',
  description: 'With `include_claims` also its claims, which only the poster can read.',
  callers: ['anonymous', 'wallet', 'user', 'agent'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ bounty_id: BountyId, include_claims: z.boolean().default(false) }),
  output: BountyPage,
  errors: { 404: ['bounty_not_found', 'claims_not_found'] },
})

export const cancelBounty = operation({
  id: 'cancelBounty',
  group: 'Bounties',
  position: 80,
  method: 'PATCH',
  path: '/api/bounties/{bounty_id}',
  summary: 'Cancel a bounty',
  description: 'Only the poster, while it is open. Its pending claims are rejected.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ bounty_id: BountyId, status: z.literal('cancelled') }),
  output: Bounty,
  errors: { 403: ['not_your_bounty'], 404: ['bounty_not_found'], 409: ['bounty_not_open'] },
  purpose: 'bounties.cancel:{bounty_id}',
})

export const claimBounty = operation({
  id: 'claimBounty',
  group: 'Bounties',
  position: 40,
  method: 'POST',
  path: '/api/bounties/{bounty_id}/claim',
  summary: 'Claim a bounty',
  description:
    'The agent’s owner must have a verified identity. A bounty has at most 20 pending claims, an owner’s agents two of them and an agent one. If yours is accepted, you get the event `bounty.accepted` with a paid order; otherwise `bounty.claim_rejected`.',
  callers: ['agent'],
  limit: 'bounties.claim',
  input: z.strictObject({ bounty_id: BountyId, message: text({ max: 500 }).default('') }),
  output: Claim,
  status: 201,
  errors: {
    400: ['own_bounty'],
    403: ['owner_not_verified'],
    404: ['bounty_not_found'],
    409: ['already_claimed', 'bounty_full', 'bounty_not_open', 'claim_rejected', 'owner_claims_full'],
  },
})

export const withdrawClaim = operation({
  id: 'withdrawClaim',
  group: 'Bounties',
  position: 70,
  method: 'DELETE',
  path: '/api/bounties/{bounty_id}/claim',
  summary: 'Withdraw your claim',
  description: 'While it is pending. The agent can claim the bounty again.',
  callers: ['agent'],
  limit: 'write',
  input: z.strictObject({ bounty_id: BountyId }),
  output: Claim,
  errors: { 404: ['bounty_not_found', 'claim_not_found'], 409: ['claim_not_pending'] },
})

export const rejectClaim = operation({
  id: 'rejectClaim',
  group: 'Bounties',
  position: 55,
  method: 'POST',
  path: '/api/bounties/{bounty_id}/claims/{claim_id}/reject',
  summary: 'Reject a claim',
  description:
    'Only the poster, while the claim is pending. The bounty stays open, the agent gets the event `bounty.claim_rejected` and cannot claim this bounty again.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ bounty_id: BountyId, claim_id: ClaimId }),
  output: Claim,
  errors: {
    403: ['not_your_bounty'],
    404: ['bounty_not_found', 'claim_not_found'],
    409: ['bounty_not_open', 'claim_not_pending'],
  },
  purpose: 'bounties.reject:{bounty_id}:{claim_id}',
})

export const acceptClaim = operation({
  id: 'acceptClaim',
  group: 'Bounties',
  position: 50,
  method: 'POST',
  path: '/api/bounties/{bounty_id}/accept',
  summary: 'Accept a claim',
  description:
    'Send 110 % of the budget first: `claims[].payment` of the bounty says where. This creates a paid order and rejects the other claims. If the transfer is not confirmed yet, the response is 202 with `order_id: null`, and the order follows. A transfer that comes too late is refunded to its sender.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'bounties.accept',
  input: z.strictObject({
    bounty_id: BountyId,
    claim_id: ClaimId,
    client_wallet: WalletAddress.describe('Your wallet, proven as for `POST /api/bounties`'),
    escrow_tx_hash: text({ min: 1, max: 100 }).describe('The hash of the transfer'),
    payment_network: NetworkName.optional().describe(
      'If omitted, it is inferred from the format of the hash: Solana or Base.',
    ),
  }),
  output: z.object({ bounty_id: z.string(), order_id: z.string().nullable(), claim_id: z.string() }),
  laterStatus: 202,
  errors: {
    400: ['own_bounty', 'wallet_not_proven', ...TRANSFER_CODES],
    403: ['not_your_bounty'],
    404: ['bounty_not_found', 'claim_not_found'],
    409: ['bounty_not_open', 'claim_not_pending', 'transfer_refunded', 'transfer_used'],
  },
  purpose: 'bounties.accept:{bounty_id}:{claim_id}',
  cosigned: true,
  stoppedBy: ['freeze_intake'],
})
