import { hash } from 'node:crypto'
import { type Actor, type Credential, nameOf } from '@market/core/context'
import { API_KEY_PREFIX } from '@market/identity/agents'
import { sessionKindOf } from '@market/identity/sessions'
import type { Credentials } from './call.ts'

export const ADMIN_KEY_PREFIX = 'adm_'

const DIGEST_LENGTH = 12

/** 48 bits of a hash: enough to follow one credential through the log, useless to find it. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'hex').slice(0, DIGEST_LENGTH)

/** An API key, an operator's key, or else a token. */
export function secretCredential(secret: string): Credential {
  const id = digestOf(secret)
  if (secret.startsWith(API_KEY_PREFIX)) return { kind: 'api_key', id }
  return { kind: secret.startsWith(ADMIN_KEY_PREFIX) ? 'operator_key' : 'access_token', id }
}

/** The credential that a request was sent with, valid or not. */
export function sentCredential({
  bearer,
  bodyToken,
  cookieToken,
  wallet,
}: Credentials): Credential | undefined {
  const secret = bearer ?? bodyToken
  if (secret !== undefined) return secretCredential(secret)
  if (cookieToken !== undefined)
    return sessionKindOf(cookieToken) === undefined
      ? secretCredential(cookieToken)
      : { kind: 'login', id: digestOf(cookieToken) }
  if (wallet === undefined) return undefined
  const { wallet: claimed } = wallet
  return { kind: 'wallet_signature', id: typeof claimed === 'string' ? claimed.slice(0, 64) : null }
}

/** What every log line says about a credential. */
export interface CredentialFields {
  readonly credential: Credential['kind'] | 'none'
  /** Tells two credentials apart without containing either. */
  readonly credential_id: string | null
  readonly grant_id?: string
  readonly program?: string
}

export const credentialFields = (credential: Credential | undefined): CredentialFields => ({
  credential: credential?.kind ?? 'none',
  credential_id: credential?.id ?? null,
  ...(credential?.grantId !== undefined && { grant_id: credential.grantId }),
  ...(credential?.program !== undefined && { program: credential.program }),
})

/** What the request log says about a verified caller. */
export const callerFields = (actor: Actor) => ({
  caller: nameOf(actor),
  ...credentialFields(actor.credential),
})
