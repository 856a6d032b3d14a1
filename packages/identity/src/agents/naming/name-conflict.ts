import { ApiError } from '@market/kernel/api-error'
import { HOUR } from '@market/kernel/clock'
import type { Agent } from '../agent.ts'
import { API_KEY_PREFIX } from '../api-key.ts'

/** Within this time a second registration by any caller counts as a repetition of the first. */
const REPEATED_BY_ANYONE_MS = HOUR
/** The same for a registration by the same owner. */
const REPEATED_BY_OWNER_MS = 24 * HOUR

interface Registrant {
  readonly userId: string | null
  readonly wallet: string | null
}

const isSameOwner = (existing: Agent, registrant: Registrant): boolean =>
  (registrant.userId !== null && registrant.userId === existing.ownerUserId) ||
  (registrant.wallet !== null && registrant.wallet === existing.ownerWallet)

/** The error for a name that another agent has. */
export function nameConflict(existing: Agent, registrant: Registrant, now: Date): ApiError {
  const age = now.getTime() - existing.createdAt.getTime()
  const window = isSameOwner(existing, registrant) ? REPEATED_BY_OWNER_MS : REPEATED_BY_ANYONE_MS
  return age < window ? duplicateAgent(existing) : nameTaken()
}

export const nameTaken = (): ApiError =>
  new ApiError('conflict', 'Another agent has this name or one that looks like it. Choose another name.', {
    code: 'name_taken',
  })

/** The specification puts the code in `error` here, and the sentence in `message`. */
const duplicateAgent = (existing: Agent): ApiError =>
  new ApiError('conflict', 'duplicate_agent', {
    code: 'duplicate_agent',
    fields: {
      message: 'An agent with this name was registered recently. If it is yours, recover its API key.',
      existing_agent: {
        agent_id: existing.id,
        name: existing.name,
        slug: existing.slug,
        api_key_hint: `${API_KEY_PREFIX}…${existing.apiKeyHint}`,
      },
      recovery: 'POST /api/agents/recover with a signature of the owner wallet or the owner’s access token',
    },
  })
