import { isLocal } from '@market/contract/api-url'
import { Market, type Operations } from '@market/sdk'
import { UsageError } from '../usage-error.ts'
import type { Profile } from './config-file.ts'

type IdentityProvider = Operations['getConfig']['data']['identity_provider']

export type LoginProfile = Profile & { readonly issuer: string; readonly client_id: string }

const EXAMPLE = 'market login --issuer https://login.example --client-id <id>'

/** The settings of a login: those that the user gave, and for the rest what the API publishes. */
export async function discoverLogin(apiUrl: string, given: Profile): Promise<LoginProfile> {
  const { issuer, client_id } = given
  if (issuer !== undefined && client_id !== undefined) return { ...given, issuer, client_id }
  const { identity_provider: provider } = await new Market({ apiUrl, retries: 2 }).getConfig()
  return withProvider(apiUrl, given, provider)
}

export function withProvider(apiUrl: string, given: Profile, provider: IdentityProvider): LoginProfile {
  const { issuer = provider.issuer, audience = provider.audience } = given
  // The clients and scopes of one provider mean nothing to another.
  const isOwn = issuer === provider.issuer
  const client_id = given.client_id ?? (isOwn ? (provider.client_ids.cli ?? undefined) : undefined)
  const scopes = given.scopes ?? (isOwn ? provider.scopes.join(' ') : undefined)
  if (client_id === undefined)
    throw new UsageError(
      `--client-id is missing. ${isOwn ? `${apiUrl} publishes no client for this program.` : `${issuer} is not the identity provider of ${apiUrl}.`} Ask its operator, or set MARKET_TOKEN.`,
      EXAMPLE,
    )
  if (given.audience === undefined) checkAudience(apiUrl, audience)
  return { ...given, issuer, client_id, audience, ...(scopes !== undefined && { scopes }) }
}

/** An API that names the audience of another one would get a token that the other one accepts. */
function checkAudience(apiUrl: string, audience: string): void {
  const api = new URL(apiUrl)
  // fix: login-audience-of-this-api
  if (!URL.canParse(audience) || isLocal(api) || new URL(audience).hostname === api.hostname) return
  throw new UsageError(
    `${apiUrl} asks for a login to ${audience}, which is another site. If you trust it with your account there, name it.`,
    `market login --audience ${audience}`,
  )
}
