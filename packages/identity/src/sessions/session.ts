import { createHash, randomBytes } from 'node:crypto'
import { ApiError } from '@market/kernel/api-error'
import { DAY, HOUR, MINUTE, SECOND } from '@market/kernel/clock'

/** Tells a session from an access token of the identity provider, which the cookie may have too. */
const PREFIX = 'session_'
const FORMAT = /^session_(user|wallet)_[\w-]{43}$/

export type SessionKind = 'user' | 'wallet'

export const newSessionToken = (kind: SessionKind): string =>
  `${PREFIX}${kind}_${randomBytes(32).toString('base64url')}`

/** The kind of session that a cookie names; undefined for an access token. */
export function sessionKindOf(token: string): SessionKind | undefined {
  if (!token.startsWith(PREFIX)) return undefined
  return token.startsWith(`${PREFIX}wallet_`) ? 'wallet' : 'user'
}

/** The id under which a token is stored; undefined for what is no token of a session. */
export const sessionIdOf = (token: string): string | undefined =>
  FORMAT.test(token) ? createHash('sha256').update(token).digest('base64url') : undefined

/** What a wallet signs to start a session. */
export const START_PURPOSE = 'sessions.start'

/** A user signs in again after this time, however often the access token was refreshed. */
export const USER_SESSION_MS = 30 * DAY
/** A wallet signs again after this time. */
export const WALLET_SESSION_MS = 12 * HOUR
/** An access token is refreshed this long before it expires. */
export const REFRESH_BEFORE_MS = MINUTE
/** How long other requests leave a refresh to the one that began it. */
export const REFRESH_LEASE_MS = 15 * SECOND
/** How often the contract of a smart wallet is asked again. */
export const CHECK_WALLET_MS = 5 * MINUTE

export type SealedToken = 'access_token' | 'refresh_token'

/** A sealed token is bound to its row and field: copied elsewhere, it cannot be opened. */
export const tokenPlace = (id: string, field: SealedToken) => ({ row: `sessions:${id}`, field })

export const sessionEnded = (): ApiError =>
  new ApiError('unauthenticated', 'Your session has ended. Sign in again.', {
    code: 'bad_token',
    // fix: ended-cookie
    removesCookie: true,
  })
