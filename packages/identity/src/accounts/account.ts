import type { IdentityProfile } from '@market/core/ports/identity'
import type { Signatures, Wallet, WalletChain } from '@market/core/ports/signatures'

export interface LinkedWallet {
  readonly key: string
  readonly address: string
  readonly chain: WalletChain
}

export interface Account {
  readonly userId: string
  readonly username: string | null
  readonly displayName: string | null
  readonly twitterUsername: string | null
  readonly email: string | null
  readonly avatarUrl: string | null
  readonly bio: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly wallets: readonly LinkedWallet[]
}

/** The claims of the identity provider and when they were requested: later claims replace earlier ones. */
export type IdentityClaims = IdentityProfile & { readonly requestedAt?: Date }

/** The listed wallets that can sign. Other addresses cannot prove ownership. */
export function walletsOf(profile: IdentityProfile, signatures: Signatures): Wallet[] {
  const parsed = profile.wallets.flatMap((address) => signatures.parseWallet(address) ?? [])
  return [...new Map(parsed.map((wallet) => [wallet.key, wallet])).values()]
}
