import type { IdentityProfile } from '@market/core/ports/identity'
import type { LoginProvider, LoginRequest } from '@market/core/ports/login'
import { ApiError, unavailable } from '@market/kernel/api-error'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  ResponseBodyError,
} from 'openid-client'
import { isLoopback } from './discovery.ts'
import { type ClaimNames, profileFrom, USER_ID, USUAL_CLAIMS } from './profile-claims.ts'

export interface OidcLoginSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly scopes: readonly string[]
  readonly claims?: Partial<ClaimNames>
  readonly timeoutMs: number
}

/** The authorization code flow of OpenID Connect, with PKCE and a nonce. */
export function oidcLogin(settings: OidcLoginSettings): LoginProvider {
  const issuer = new URL(settings.issuer)
  const names: ClaimNames = { ...USUAL_CLAIMS, ...settings.claims }
  let discovered: Promise<Configuration> | undefined
  const configuration = async (): Promise<Configuration> => {
    discovered ??= discovery(issuer, settings.clientId, settings.clientSecret, undefined, {
      timeout: settings.timeoutMs / 1_000,
      ...(isLoopback(issuer) && { execute: [allowInsecureRequests] }),
    })
    try {
      return await discovered
    } catch (error) {
      discovered = undefined
      throw unavailable(PROVIDER_UNREACHABLE, error)
    }
  }

  return {
    async loginUrl({ state, nonce, verifier, redirectUri }, again) {
      return buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(again && { prompt: 'login' }),
      })
    },
    async finish(callback, { state, nonce, verifier }: LoginRequest): Promise<IdentityProfile> {
      const config = await configuration()
      try {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
        const tokens = await authorizationCodeGrant(config, callback, { ...checks, idTokenExpected: true })
        const userId = tokens.claims()?.sub
        if (userId === undefined || !USER_ID.test(userId)) throw notSignedIn()
        const claims = await fetchUserInfo(config, tokens.access_token, userId)
        return profileFrom(userId, claims, names)
      } catch (error) {
        throw isRejected(error) ? notSignedIn() : unavailable(PROVIDER_UNREACHABLE, error)
      }
    },
  }
}

const PROVIDER_UNREACHABLE = 'The identity provider cannot be reached. Try again later.'

const notSignedIn = (): ApiError =>
  new ApiError('unauthenticated', 'You were not signed in. Go back to the program and connect again.')

const NETWORK_CODES = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT'])

/** The provider or a check said no. Anything else is an outage. */
function isRejected(error: unknown): boolean {
  if (error instanceof ApiError) return error.kind === 'unauthenticated'
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) return true
  return error instanceof ClientError && !NETWORK_CODES.has(error.code ?? '')
}
