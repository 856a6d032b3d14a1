/** What the identity provider vouches for about the bearer of an access token. */
export interface IdentityProfile {
  /** The provider's own id of the person (`sub`). */
  readonly userId: string
  readonly username: string | null
  readonly displayName: string | null
  readonly avatarUrl: string | null
  readonly twitterUsername: string | null
  readonly email: string | null
  /** Addresses as the provider lists them, unparsed. */
  readonly wallets: readonly string[]
}

/** A bad token is rejected as `unauthenticated`; an unreachable provider as `unavailable`. */
export interface IdentityProvider {
  /** Checks the token alone and answers whose it is: signature, issuer, audience, expiry. */
  verify(token: string): Promise<{ readonly userId: string }>
  /** Asks the provider for the profile and linked accounts of the token's bearer. */
  profile(token: string): Promise<IdentityProfile>
}
