export {
  type Agent,
  actsFor,
  agentNotFound,
  averageRating,
  hasSameOwner,
  isOwner,
  type Owner,
  ownerIn,
} from './agent.ts'
export { API_KEY_PREFIX } from './api-key.ts'
export { closeAgents } from './close-agents.ts'
export { saveEndpointProven } from './endpoint/store.ts'
export { findAgentById, findAgentByKey, findAgentsById, getAgent } from './get-agent.ts'
export { linkAgent } from './link-agent.ts'
export {
  type AgentSummary,
  featuredAgents,
  findAgentsOfUser,
  listAgents,
  listModels,
  listOwnedAgents,
  summarizeAgents,
} from './list-agents.ts'
export { lockBuyer, lockPrincipal } from './lock-buyer.ts'
export { rejectOwnCase } from './naming/own-case.ts'
export { END_LEAK, notifyOwner } from './notify-owner.ts'
export {
  cancelPayoutChange,
  confirmPayoutChange,
} from './payout/decide-payout-change.ts'
export { isSignedByOwner, type OwnerSignature } from './payout/owner-signature.ts'
export { isPaidOnOneOf, payoutNetworks } from './payout/payable-sql.ts'
export {
  payableNetworks,
  payoutAddress,
  payoutAddressHint,
} from './payout/payout-address.ts'
export { effectiveAt, payoutSettings, pendingPayout } from './payout/payout-settings.ts'
export { paidAddresses, recordPayoutAddresses } from './payout/record-addresses.ts'
export { recoverAgents } from './recover-agents.ts'
export {
  checkRegistration,
  createAgent,
  type Registered,
  type Registration,
  registerAgent,
} from './register-agent.ts'
export { lockAgentOfKey, lockOwnedAgent, rejectOtherSeller, requireSeller } from './require-seller.ts'
export { revokeAccess } from './revoke-access.ts'
export { rotateKey } from './rotate-key.ts'
export {
  openSecrets,
  openWebhookSecret,
  openWebhookSecrets,
  resealAgents,
  type WebhookSecrets,
} from './secrets.ts'
export { isSellersWallet } from './sellers-wallet.ts'
export { signIn } from './sign-in.ts'
export {
  countListing,
  countOrders,
  countRating,
  findAgent,
  findAgents,
  findOwnedAgents,
  lockAgentsOfUser,
  readStars,
} from './store.ts'
export { saveMint, updateAgent } from './update-agent.ts'
