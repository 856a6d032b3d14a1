import type { IdentityProfile } from './identity.ts'

/** What ties a sign-in to the browser that began it. */
export interface LoginRequest {
  readonly state: string
  readonly nonce: string
  /** The PKCE verifier. */
  readonly verifier: string
  readonly redirectUri: string
  /** How many seconds ago the user may have signed in at most. */
  readonly maxAge?: number | undefined
}

/** The tokens of a signed-in user. */
export interface LoginTokens {
  readonly accessToken: string
  readonly expiresInSeconds: number
  /** Absent where the provider issues none. */
  readonly refreshToken?: string | undefined
}

/** Signs users in at the identity provider, in their browser. Each call throws `unavailable` when it cannot be reached. */
export interface LoginProvider {
  /** Where the browser signs in. With `again` the user may choose another account. */
  loginUrl(request: LoginRequest, again: boolean): Promise<URL>
  /** The user who came back to `callback`. Throws `unauthenticated`. */
  finish(
    callback: URL,
    request: LoginRequest,
  ): Promise<{ readonly profile: IdentityProfile; readonly tokens: LoginTokens }>
  /** Throws `unauthenticated` when the refresh token is not valid any more. */
  refresh(refreshToken: string): Promise<LoginTokens>
  /** Revokes the refresh token, where the provider can. */
  revoke(refreshToken: string): Promise<void>
}
