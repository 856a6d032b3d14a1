import { isLocal } from '@market/contract/api-url'
import {
  allowInsecureRequests,
  ClientError,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  ResponseBodyError,
} from 'openid-client'
import type { LoginSettings } from './settings.ts'

const TIMEOUT_SECONDS = 30
/** For a provider that does not say how long its access token is valid. */
const DEFAULT_LIFETIME_SECONDS = 900

/** A login that did not succeed, as a sentence that says what to do. */
export class LoginError extends Error {
  override readonly name = 'LoginError'
}

export interface AccessToken {
  readonly accessToken: string
  readonly expiresAt: Date
}

/** The OAuth 2.0 device authorization grant (RFC 8628). `show` tells the operator which page to open. */
export async function loginByDevice(
  settings: LoginSettings,
  show: (page: { readonly url: string; readonly code: string }) => void,
): Promise<AccessToken> {
  const parameters = audienceParameters(settings)
  try {
    const provider = await discover(settings)
    if (provider.serverMetadata().device_authorization_endpoint === undefined)
      throw new LoginError(
        `${settings.issuer.href} does not offer the device flow. Enable it for this client.`,
      )
    const device = await initiateDeviceAuthorization(provider, {
      scope: settings.scopes,
      // Operators need a login of the last 15 minutes for every write.
      prompt: 'login',
      ...parameters,
    })
    show({ url: device.verification_uri_complete ?? device.verification_uri, code: device.user_code })
    const tokens = await pollDeviceAuthorizationGrant(provider, device, parameters)
    const seconds = tokens.expiresIn() ?? DEFAULT_LIFETIME_SECONDS
    return { accessToken: tokens.access_token, expiresAt: new Date(Date.now() + seconds * 1_000) }
  } catch (error) {
    throw asLoginError(settings, error)
  }
}

/** Providers read either of the two: `resource` (RFC 8707) is a URL, `audience` is any name. */
function audienceParameters({ audience }: LoginSettings): Record<string, string> {
  if (audience === undefined) return {}
  return { audience, ...(URL.canParse(audience) && { resource: audience }) }
}

const discover = ({ issuer, clientId }: LoginSettings): Promise<Configuration> =>
  discovery(issuer, clientId, undefined, undefined, {
    timeout: TIMEOUT_SECONDS,
    ...(isLocal(issuer) && { execute: [allowInsecureRequests] }),
  })

function asLoginError({ issuer }: LoginSettings, error: unknown): LoginError {
  if (error instanceof LoginError) return error
  if (error instanceof ResponseBodyError) {
    if (error.error === 'access_denied') return new LoginError('The login was cancelled. Run `login` again.')
    if (error.error === 'expired_token')
      return new LoginError('The code expired before it was confirmed. Run `login` again.')
    const description = error.error_description === undefined ? '' : `: ${error.error_description}`
    return new LoginError(`${issuer.href} rejected the login with ${error.error}${description}.`)
  }
  if (error instanceof ClientError)
    return new LoginError(`${issuer.href} sent a response that cannot be used: ${error.message}.`)
  return new LoginError(`${issuer.href} cannot be reached. Check IDP_ISSUER and try again.`)
}
