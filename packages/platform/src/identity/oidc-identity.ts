import { createHash } from 'node:crypto'
import type { IdentityProfile, IdentityProvider, VerifiedToken } from '@market/core/ports/identity'
import { ApiError, unavailable } from '@market/kernel/api-error'
import {
  type CryptoKey,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  type RemoteJWKSet,
} from 'jose'
import { fetchJson, isRecord } from '../fetch-json.ts'
import { discovery } from './discovery.ts'
import { type ClaimNames, profileFrom, USER_ID, USUAL_CLAIMS } from './profile-claims.ts'

/** Only asymmetric algorithms: a shared secret could also be used to sign tokens. */
export type TokenAlgorithm = 'ES256' | 'ES384' | 'RS256' | 'PS256' | 'EdDSA' | 'Ed25519'

export interface OidcIdentitySettings {
  /** The exact `iss` value of the provider's tokens. */
  readonly issuer: string
  readonly audience: string
  /** The `typ` headers of access tokens of this issuer. An ID token must never have one of them. */
  readonly tokenTypes?: readonly string[]
  /** The claim of an operator's access token, and the value that it is or contains. */
  readonly adminClaim?: { readonly name: string; readonly value: string }
  readonly algorithms?: readonly TokenAlgorithm[]
  readonly claims?: Partial<ClaimNames>
  readonly timeoutMs: number
  /** Called for each token that could not be checked because the provider did not respond. */
  readonly onUnreachable?: () => void
}

const USUAL_ALGORITHMS: readonly TokenAlgorithm[] = ['ES256', 'RS256', 'EdDSA', 'Ed25519']
const CLOCK_TOLERANCE_SECONDS = 30
const LONGEST_TOKEN = 8_192
/** RFC 9068. Providers that write `JWT` into access tokens need it in their settings. */
const USUAL_TOKEN_TYPES = ['at+jwt']
/** Claims that only ID tokens have. They tell the two apart where both have the type `JWT`. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash']

/** Identity of users of an OpenID provider. Tokens are checked against real time, never the test clock. */
export function oidcIdentity(settings: OidcIdentitySettings): IdentityProvider {
  const { timeoutMs } = settings
  const names: ClaimNames = { ...USUAL_CLAIMS, ...settings.claims }
  const discover = discovery(settings.issuer, timeoutMs)
  const tokenTypes = new Set((settings.tokenTypes ?? USUAL_TOKEN_TYPES).map(plainType))
  const asking = new Map<string, Promise<IdentityProfile>>()
  const checks = {
    issuer: settings.issuer,
    audience: settings.audience,
    algorithms: [...(settings.algorithms ?? USUAL_ALGORITHMS)],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['sub', 'exp'],
  }

  async function verify(token: string): Promise<VerifiedToken> {
    if (token.length > LONGEST_TOKEN) throw badToken()
    const { keys } = await orUnavailable(discover())
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header: JWTHeaderParameters) => keyFor(keys, header),
      checks,
    ).catch((error: unknown) => {
      throw error instanceof ApiError ? error : badToken()
    })
    // fix: access-token-type
    if (!tokenTypes.has(plainType(protectedHeader.typ ?? 'jwt'))) throw badToken()
    if (ID_TOKEN_CLAIMS.some((name) => Object.hasOwn(payload, name))) throw badToken()
    return {
      userId: userIdOf(payload),
      loginAgeSeconds: loginAgeOf(payload),
      isAdmin: hasClaim(payload, settings.adminClaim),
    }
  }

  async function askUserinfo(token: string): Promise<IdentityProfile> {
    const { userId } = await verify(token)
    const { userinfo } = await orUnavailable(discover())
    const { status, body } = await orUnavailable(fetchJson(userinfo, { timeoutMs }, token))
    if (status === 401 || status === 403) throw badToken()
    if (!isRecord(body))
      throw unavailable(PROVIDER_UNREACHABLE, new Error(`userinfo returned ${status} or not a JSON object`))
    if (body['sub'] !== userId) throw badToken()
    return profileFrom(userId, body, names)
  }

  const counted = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'unavailable') settings.onUnreachable?.()
      throw error
    }
  }

  return {
    verify: (token) => counted(verify(token)),
    // Responses are not cached, because an unlinked wallet must lose its rights with the next call. Only concurrent
    // calls share one request.
    async fetchProfile(token) {
      const name = createHash('sha256').update(token).digest('base64')
      const running = asking.get(name)
      if (running !== undefined) return await running
      const answer = counted(askUserinfo(token)).finally(() => asking.delete(name))
      asking.set(name, answer)
      return await answer
    },
  }
}

const PROVIDER_UNREACHABLE = 'The identity provider cannot be reached. Try again later.'

const badToken = (): ApiError =>
  new ApiError('unauthenticated', 'The access token is not valid', { code: 'bad_token' })

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw unavailable(PROVIDER_UNREACHABLE, error)
  }
}

/** An unknown key is an invalid token. Keys that could not be fetched are an outage of the provider. */
async function keyFor(keys: RemoteJWKSet, header: JWTHeaderParameters): Promise<CryptoKey> {
  // Without a key id jose would try every matching key.
  if (typeof header.kid !== 'string') throw badToken()
  try {
    return await keys(header)
  } catch (error) {
    const notTheirs = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported
    throw notTheirs ? badToken() : unavailable(PROVIDER_UNREACHABLE, error)
  }
}

/** A login in the future cannot be trusted, apart from the tolerance between two clocks. */
function loginAgeOf({ auth_time: signedInAt }: JWTPayload): number | null {
  if (typeof signedInAt !== 'number' || !Number.isFinite(signedInAt)) return null
  const age = Math.floor(Date.now() / 1_000) - signedInAt
  return age < -CLOCK_TOLERANCE_SECONDS ? null : Math.max(0, age)
}

/** `application/at+jwt` and `at+jwt` are the same type (RFC 7515, 4.1.9). */
const plainType = (type: string): string => type.toLowerCase().replace(/^application\//, '')

/** The claim is the value, or a list that contains it. */
function hasClaim(payload: JWTPayload, claim: OidcIdentitySettings['adminClaim']): boolean {
  if (claim === undefined || !Object.hasOwn(payload, claim.name)) return false
  const found = payload[claim.name]
  return found === claim.value || (Array.isArray(found) && found.includes(claim.value))
}

function userIdOf(payload: JWTPayload): string {
  if (typeof payload.sub !== 'string' || !USER_ID.test(payload.sub)) throw badToken()
  return payload.sub
}
