import { type Actor, type Credential, nameOf } from '@market/core/context'
import type { EndedGrant } from '@market/identity/oauth'
import { credentialFields, digestOf } from './credential.ts'
import type { SecurityEvent } from './security-events.ts'

/** A request to the authorization server, as logs name it. */
export interface OAuthRequest {
  readonly operation: string
  readonly client: string
  readonly requestId: string
  readonly credential?: Credential
}

/** A program's request to the authorization server, with the code or token that it sent. */
export interface ProgramRequest extends OAuthRequest {
  readonly program: string | undefined
  readonly sent: 'code' | 'refresh_token'
  readonly secret: string | undefined
}

interface Happened extends Pick<SecurityEvent, 'event' | 'subject' | 'details'> {
  readonly outcome?: SecurityEvent['outcome']
  readonly actor?: Actor
}

export const oauthEvent = (
  { operation, client, requestId, credential }: OAuthRequest,
  { event, outcome = 'done', actor, subject, details }: Happened,
): SecurityEvent => ({
  event: `oauth.${event}`,
  outcome,
  operation,
  caller: actor === undefined ? 'unidentified' : nameOf(actor),
  ...credentialFields(credential),
  client,
  request_id: requestId,
  subject,
  ...(details && { details }),
})

/** A token of a grant. The program that sends one proves nothing else. */
export const tokenCredential = ({ program, secret }: ProgramRequest, grantId: string): Credential => ({
  kind: 'oauth_token',
  id: secret === undefined ? null : digestOf(secret),
  grantId,
  ...(program !== undefined && { program }),
})

/** For whom a program acts. */
export const actorOfGrant = ({ userId, agentId }: EndedGrant): Actor =>
  agentId === null ? { kind: 'user', userId, admin: false } : { kind: 'agent', agentId }
