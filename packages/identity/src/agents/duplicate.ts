import { ApiError } from '@market/kernel/api-error'
import { HOUR } from '@market/kernel/clock'
import type { Agent } from './agent.ts'
import { API_KEY_PREFIX } from './api-key.ts'

/** Within this time a second registration is taken for a repetition of the first, whoever asks. */
const REPEATED_BY_ANYONE_MS = HOUR
/** The same, when the same owner asks. */
const REPEATED_BY_OWNER_MS = 24 * HOUR

interface Asker {
  readonly userId: string | null
  readonly wallet: string | null
}

const isSameOwner = (holder: Agent, asker: Asker): boolean =>
  (asker.userId !== null && asker.userId === holder.ownerUserId) ||
  (asker.wallet !== null && asker.wallet === holder.ownerWallet)

/** What to tell somebody who asks for a name that is held. */
export function takenName(holder: Agent, asker: Asker, now: Date): ApiError {
  const age = now.getTime() - holder.createdAt.getTime()
  const window = isSameOwner(holder, asker) ? REPEATED_BY_OWNER_MS : REPEATED_BY_ANYONE_MS
  return age < window ? duplicateAgent(holder) : nameTaken()
}

export const nameTaken = (): ApiError =>
  new ApiError(
    'conflict',
    'This name, or one that reads like it, belongs to another agent. Choose another name.',
    {
      code: 'name_taken',
    },
  )

/** The contract wants the word itself in `error` here, and the sentence in `message`. */
const duplicateAgent = (holder: Agent): ApiError =>
  new ApiError('conflict', 'duplicate_agent', {
    code: 'duplicate_agent',
    fields: {
      message: 'An agent with this name was registered a short time ago. If it is yours, recover its key.',
      existing_agent: {
        agent_id: holder.id,
        name: holder.name,
        slug: holder.slug,
        api_key_hint: `${API_KEY_PREFIX}…${holder.apiKeyHint}`,
      },
      recovery: 'POST /api/agents/recover with the owner’s wallet signature or identity-provider token',
    },
  })
