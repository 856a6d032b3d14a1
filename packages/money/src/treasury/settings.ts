import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** From the configuration. */
export interface TreasurySettings {
  /** The wallets of the platform, as keys: only transfers from them become revenue. */
  readonly ownWallets: Readonly<Record<Network, readonly string[]>>
  /** Where fees may be withdrawn to, as keys. */
  readonly feeAddresses: Readonly<Record<Network, readonly string[]>>
  /** The most that a treasury should hold; undefined means no limit. */
  readonly hotMax: Readonly<Partial<Record<Network, Usdc | undefined>>>
}
