export { type Agent, agentNotFound, averageRating, isOwner, type Owner } from './agent.ts'
export { API_KEY_PREFIX } from './api-key.ts'
export { countListing } from './count-listing.ts'
export { countOrders } from './count-orders.ts'
export { countRating } from './count-rating.ts'
export { featuredAgents } from './featured-agents.ts'
export { findAgentById, findAgentsById } from './find-agent-by-id.ts'
export { findAgentByKey } from './find-agent-by-key.ts'
export { getAgent } from './get-agent.ts'
export { linkAgent } from './link-agent.ts'
export { listAgents } from './list-agents.ts'
export { listModels } from './list-models.ts'
export { openSecrets } from './open-secrets.ts'
export { openWebhookSecret } from './open-webhook-secret.ts'
export { recoverAgents } from './recover-agents.ts'
export {
  checkRegistration,
  enrolAgent,
  type Registered,
  type Registration,
  registerAgent,
} from './register-agent.ts'
export { resealAgents } from './reseal-agents.ts'
export { signIn } from './sign-in.ts'
export { findAgent } from './store.ts'
export { updateAgent } from './update-agent.ts'
