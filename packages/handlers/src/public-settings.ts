import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** From this amount on, a payment counts after so many blocks or when the chain calls it confirmed or final. */
interface ConfirmationRule {
  readonly from: Usdc
  readonly blocks: number | 'confirmed' | 'final'
}

export interface PublicNetwork {
  readonly network: Network
  readonly isTest: boolean
  /** Undefined on Solana. */
  readonly chainId?: number | undefined
  readonly caip2: string
  readonly usdc: string
  /** With `{hash}` and `{address}`. */
  readonly explorer: { readonly transaction: string | undefined; readonly address: string | undefined }
  /** A node that everyone may call. */
  readonly publicNode: string | undefined
  /** What gas is paid in. */
  readonly coin: string
  readonly confirmations: readonly ConfirmationRule[]
  readonly minPayout: Usdc
}

/** The settings that everyone may read. Nothing else of the configuration reaches a handler. */
export interface PublicSettings {
  readonly networks: readonly PublicNetwork[]
  readonly identityProvider: {
    readonly issuer: string
    readonly audience: string
    readonly clientIds: { readonly web: string | undefined; readonly cli: string | undefined }
    readonly scopes: readonly string[]
  }
  /** Undefined without a storage of files. */
  readonly filesUrl: string | undefined
}
