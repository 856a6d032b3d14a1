import { isLocal } from '@market/contract/api-url'
import {
  allowInsecureRequests,
  ClientError,
  discovery,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  ResponseBodyError,
} from 'openid-client'
import { CommandError, UsageError } from '../usage-error.ts'
import type { LoginProfile } from './discover-login.ts'

const TIMEOUT_SECONDS = 30
/** For a provider that does not say how long its access token is valid. */
const DEFAULT_LIFETIME_SECONDS = 900

export interface LoginSettings {
  readonly issuer: URL
  readonly clientId: string
  /** For whom the access token is issued: `IDP_AUDIENCE` of the API. */
  readonly audience: string | undefined
  readonly scopes: string
}

export function readLoginSettings({
  issuer,
  client_id,
  audience,
  scopes = 'openid',
}: LoginProfile): LoginSettings {
  const example = 'market login --issuer https://login.example --client-id <id>'
  if (!URL.canParse(issuer)) throw new UsageError(`--issuer ${issuer} is not a URL.`, example)
  const url = new URL(issuer)
  if (url.protocol !== 'https:' && !isLocal(url))
    throw new UsageError(
      '--issuer must begin with https://. Only a local provider may have http://.',
      example,
    )
  return { issuer: url, clientId: client_id, audience, scopes }
}

/** The OAuth 2.0 device authorization grant (RFC 8628). `show` tells the user which page to open. */
export async function loginByDevice(
  { issuer, clientId, audience, scopes }: LoginSettings,
  show: (page: { readonly url: string; readonly code: string }) => void,
  signal: AbortSignal,
): Promise<{ readonly accessToken: string; readonly expiresAt: Date }> {
  // Providers read either of the two: `resource` (RFC 8707) is a URL, `audience` is any name.
  const parameters: Record<string, string> =
    audience === undefined ? {} : { audience, ...(URL.canParse(audience) && { resource: audience }) }
  try {
    const provider = await discovery(issuer, clientId, undefined, undefined, {
      timeout: TIMEOUT_SECONDS,
      ...(isLocal(issuer) && { execute: [allowInsecureRequests] }),
    })
    if (provider.serverMetadata().device_authorization_endpoint === undefined)
      throw new CommandError(
        'no_device_flow',
        `${issuer.href} does not offer the device flow. Enable it for client ${clientId}, or set MARKET_TOKEN.`,
      )
    const device = await initiateDeviceAuthorization(provider, { scope: scopes, ...parameters })
    show({ url: device.verification_uri_complete ?? device.verification_uri, code: device.user_code })
    const tokens = await pollDeviceAuthorizationGrant(provider, device, parameters, { signal })
    const seconds = tokens.expiresIn() ?? DEFAULT_LIFETIME_SECONDS
    return { accessToken: tokens.access_token, expiresAt: new Date(Date.now() + seconds * 1_000) }
  } catch (error) {
    throw asLoginError(issuer, error)
  }
}

function asLoginError(issuer: URL, error: unknown): unknown {
  if (error instanceof CommandError) return error
  const failed = (message: string) => new CommandError('login_failed', message, 'market login')
  if (error instanceof ResponseBodyError) {
    if (error.error === 'access_denied') return failed('The login was cancelled.')
    if (error.error === 'expired_token') return failed('The code expired before it was confirmed.')
    const description = error.error_description === undefined ? '' : `: ${error.error_description}`
    return failed(`${issuer.href} rejected the login with ${error.error}${description}.`)
  }
  if (error instanceof ClientError)
    return failed(`${issuer.href} sent a response that cannot be used: ${error.message}.`)
  return failed(`${issuer.href} cannot be reached. Check the issuer.`)
}
