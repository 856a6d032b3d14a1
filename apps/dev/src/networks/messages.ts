import type { Network } from '@market/kernel/network'
import type { LocalNetwork } from './network.ts'

/** What the process with the chains says once they are up. */
export interface Up {
  readonly up: Readonly<Record<Network, Pick<LocalNetwork, 'place' | 'treasuryKey' | 'gas' | 'identity'>>>
}

/** What it is asked to do. */
export type Deed =
  | { readonly deed: 'newWallet'; readonly network: Network }
  | {
      readonly deed: 'fund'
      readonly network: Network
      readonly address: string
      readonly usdc: bigint
      readonly native: bigint
    }
  | {
      readonly deed: 'transfer'
      readonly network: Network
      readonly to: string
      readonly amount: bigint
      readonly from: string | undefined
    }
  | { readonly deed: 'advance'; readonly seconds: number }

export type Question = Deed & { readonly id: number }

export type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly isApiError: boolean }
