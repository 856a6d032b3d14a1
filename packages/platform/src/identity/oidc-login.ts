import type { LoginProvider, LoginTokens } from '@market/core/ports/login'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { decodeJwt } from 'jose'
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
  refreshTokenGrant,
  type TokenEndpointResponse,
  tokenRevocation,
} from 'openid-client'
import { isLoopback } from './discovery.ts'
import { type ClaimNames, profileFrom, USER_ID, USUAL_CLAIMS } from './profile-claims.ts'

export interface OidcLoginSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly scopes: readonly string[]
  /** For whom access tokens are issued: the API. */
  readonly audience: string
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

  const { audience } = settings
  // Providers read either of the two: `resource` (RFC 8707) is a URL, `audience` is any name.
  const forApi = { audience, ...(URL.canParse(audience) && { resource: audience }) }

  async function orRejected<T>(asked: Promise<T>): Promise<T> {
    try {
      return await asked
    } catch (error) {
      throw isRejected(error) ? notSignedIn() : unavailable(PROVIDER_UNREACHABLE, error)
    }
  }

  return {
    async loginUrl({ state, nonce, verifier, redirectUri, maxAge }, again) {
      return buildAuthorizationUrl(await configuration(), {
        ...forApi,
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
        ...(again && { prompt: 'login' }),
      })
    },
    async finish(callback, { state, nonce, verifier, maxAge }) {
      const config = await configuration()
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        ...(maxAge !== undefined && { maxAge }),
      }
      return orRejected(
        (async () => {
          const issued = await authorizationCodeGrant(config, callback, checks, forApi)
          const userId = issued.claims()?.sub
          if (userId === undefined || !USER_ID.test(userId)) throw notSignedIn()
          const claims = await fetchUserInfo(config, issued.access_token, userId)
          return { profile: profileFrom(userId, claims, names), tokens: tokensOf(issued) }
        })(),
      )
    },
    async refresh(refreshToken) {
      const config = await configuration()
      const issued = await refreshTokenGrant(config, refreshToken, forApi).catch((error: unknown) => {
        // fix: refresh-outage
        const isEnded = error instanceof ResponseBodyError && error.error === 'invalid_grant'
        throw isEnded ? notSignedIn() : unavailable(PROVIDER_UNREACHABLE, error)
      })
      // Without rotation the same refresh token goes on.
      return { refreshToken, ...tokensOf(issued) }
    },
    async revoke(refreshToken) {
      const config = await configuration()
      if (config.serverMetadata().revocation_endpoint === undefined) return
      await orRejected(tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' }))
    },
  }
}

/** Of an access token that does not say when it expires. */
const SHORT_LIFE_SECONDS = 300

function tokensOf(issued: TokenEndpointResponse): LoginTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = issued
  return {
    accessToken,
    expiresInSeconds: seconds ?? lifeOf(accessToken) ?? SHORT_LIFE_SECONDS,
    ...(refreshToken !== undefined && { refreshToken }),
  }
}

function lifeOf(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token)
    return exp === undefined ? undefined : exp - Math.floor(Date.now() / 1_000)
  } catch {
    return undefined
  }
}

const PROVIDER_UNREACHABLE = 'The identity provider cannot be reached. Try again later.'

const notSignedIn = (): ApiError => new ApiError('unauthenticated', 'You were not signed in. Sign in again.')

const NETWORK_CODES = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT'])

/** The provider or a check said no. Anything else is an outage. */
function isRejected(error: unknown): boolean {
  if (error instanceof ApiError) return error.kind === 'unauthenticated'
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) return true
  return error instanceof ClientError && !NETWORK_CODES.has(error.code ?? '')
}
