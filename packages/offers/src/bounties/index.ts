export { type Bounty, type Claim, claimNotFound, isHeld, requirePoster } from './bounty.ts'
export { cancelBounty } from './cancel-bounty.ts'
export { claimBounty, isOwnBounty, ownBounty } from './claim-bounty.ts'
export { expireBounties } from './expire.ts'
export { findBountyEnds } from './find-ends.ts'
export { getBounty, type PostedClaim } from './get-bounty.ts'
export { listBounties } from './list-bounties.ts'
export { listMyBounties, type MyBounty } from './my-bounties.ts'
export { claimExpired, notifyClaimants, notifyPoster } from './notifications.ts'
export { postBounty } from './post-bounty.ts'
export { rejectClaim } from './reject-claim.ts'
export {
  BOUNTY_ACTORS,
  BOUNTY_TRANSITIONS,
  type BountyStatus,
  bountyNotOpen,
  CLAIM_ACTORS,
  CLAIM_TRANSITIONS,
  type ClaimStatus,
} from './states.ts'
export {
  endClaims,
  eraseBounties,
  extendExpiry,
  findBounty,
  findClaim,
  followOrder,
  hasOpenBounties,
  hasOpenBountyOfWallet,
  lockBounty,
  saveStatus,
} from './store.ts'
export { withdrawClaim, withdrawClaimsOf } from './withdraw-claim.ts'
