export { type Agent, actsFor, agentNotFound, averageRating, isOwner, type Owner, ownerIn } from './agent.ts'
export { API_KEY_PREFIX } from './api-key.ts'
export { closeAgents } from './close-agents.ts'
export { foldNames } from './fold-names.ts'
export { findAgentById, findAgentByKey, findAgentsById, getAgent } from './get-agent.ts'
export { linkAgent } from './link-agent.ts'
export { featuredAgents, listAgents, listModels } from './list-agents.ts'
export {
  cancelPayoutChange,
  confirmPayoutChange,
} from './payout/decide-payout-change.ts'
export {
  payableNetworks,
  payoutAddress,
  payoutAddressHint,
  payoutAddressOf,
  preferredFirst,
} from './payout/payout-address.ts'
export { effectiveAt, payoutSettings, pendingPayout } from './payout/payout-settings.ts'
export { recoverAgents } from './recover-agents.ts'
export {
  checkRegistration,
  createAgent,
  expelRegistrant,
  type Registered,
  type Registration,
  registerAgent,
} from './register-agent.ts'
export { rotateKey } from './rotate-key.ts'
export { agentsPaidAt } from './row.ts'
export { openSecrets, openWebhookSecret, resealAgents } from './secrets.ts'
export { signIn } from './sign-in.ts'
export { countListing, countOrders, countRating, findAgent, lockAgentsOfUser } from './store.ts'
export { updateAgent } from './update-agent.ts'
