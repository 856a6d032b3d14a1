import { writeFileSync } from 'node:fs'
import type { Db } from '@market/database/transact'
import { agentNotFound, findAgent, openSecrets } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { CallApi } from './call-api.ts'

export interface Forwarded {
  readonly endpoint_url: string
  readonly webhook_secret: string
}

export interface WebhookForwards {
  /** Sends the agent's webhooks to a URL on this machine from now on. */
  forward(agent: string, to: string): Promise<Forwarded>
}

interface ForwardDeps {
  readonly file: string
  readonly db: Db
  readonly vault: Parameters<typeof openSecrets>[0]['vault']
  readonly call: CallApi
}

/** Events are delivered only to agents with an endpoint. Nothing is sent to this address while a forward exists. */
const placeholderOf = (agent: string): string => `https://93.184.216.34/${agent}`

/** Writes the file that `OUTBOUND_FORWARD_FILE` names. */
export function webhookForwards({ file, db, vault, call }: ForwardDeps): WebhookForwards {
  const forwards: Record<string, string> = {}
  const save = () => writeFileSync(file, JSON.stringify(forwards))
  save()
  return {
    forward: async (agent, to) => {
      if (!isLocal(to))
        throw new ApiError(
          'invalid',
          `to is ${to} but must be http://127.0.0.1:<port>/ or http://localhost:<port>/`,
        )
      const found = await findAgent(db, agent)
      if (found === undefined) throw agentNotFound(agent)
      const { apiKey } = await openSecrets({ db, vault }, found.id)
      forwards[agent] = to
      save()
      if (found.endpointUrl === null)
        await call('/api/agents/me', { endpoint_url: placeholderOf(agent) }, apiKey, 'PATCH')
      const { endpoint_url, webhook_secret } = await call('/api/agents/me', undefined, apiKey)
      return { endpoint_url: String(endpoint_url), webhook_secret: String(webhook_secret) }
    },
  }
}

function isLocal(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname)
}
