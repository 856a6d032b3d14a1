/** Verified claims about the user of an access token. */
export interface IdentityProfile {
  /** The provider's id of the user (`sub`). */
  readonly userId: string
  readonly username: string | null
  readonly displayName: string | null
  readonly avatarUrl: string | null
  readonly twitterUsername: string | null
  readonly email: string | null
  /** Addresses as the provider returns them, not parsed. */
  readonly wallets: readonly string[]
}

export interface VerifiedToken {
  readonly userId: string
  /** How long ago the user signed in (`auth_time`), by real time; null when the token does not say it. */
  readonly loginAgeSeconds: number | null
  /** Whether the provider says in the token that the user is an operator. */
  readonly isAdmin: boolean
}

/** Throws `unauthenticated` for an invalid token and `unavailable` when the provider cannot be reached. */
export interface IdentityProvider {
  /** Checks the token's signature, issuer, audience and expiry, and returns its user. */
  verify(token: string): Promise<VerifiedToken>
  /** Fetches the user's profile and linked accounts from the provider. */
  fetchProfile(token: string): Promise<IdentityProfile>
}
