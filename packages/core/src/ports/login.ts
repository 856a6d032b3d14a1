import type { IdentityProfile } from './identity.ts'

/** What ties a sign-in to the browser that began it. */
export interface LoginRequest {
  readonly state: string
  readonly nonce: string
  /** The PKCE verifier. */
  readonly verifier: string
  readonly redirectUri: string
}

/** Signs users in at the identity provider, in their browser. */
export interface LoginProvider {
  /** Where the browser signs in. With `again` the user may choose another account. */
  loginUrl(request: LoginRequest, again: boolean): Promise<URL>
  /** The user who came back to `callback`. Throws `unauthenticated`, or `unavailable` when the provider cannot be reached. */
  finish(callback: URL, request: LoginRequest): Promise<IdentityProfile>
}
