import type { Network } from '@market/kernel/network'
import type { LocalNetwork } from './network.ts'

export type NetworkSettings = Pick<
  LocalNetwork,
  'addresses' | 'treasuryKey' | 'gas' | 'payoutGasKey' | 'identity' | 'venues'
>

/** Sent by the process of the chains once they are up. */
export interface Ready {
  /** Without Solana where it is not started. */
  readonly networks: Readonly<Partial<Record<Network, NetworkSettings>>>
}

/** The commands that the process of the chains executes. */
export type NetworkCommand =
  | { readonly command: 'newWallet'; readonly network: Network }
  | {
      readonly command: 'fund'
      readonly network: Network
      readonly address: string
      readonly usdc: bigint
      readonly native: bigint
    }
  | {
      readonly command: 'transfer'
      readonly network: Network
      readonly to: string
      readonly amount: bigint
      readonly from: string | undefined
    }
  | { readonly command: 'makeBlocks'; readonly network: Network; readonly on: boolean }
  | { readonly command: 'untilBlocksAt'; readonly at: Date }

export type NetworkRequest = NetworkCommand & { readonly id: number }

export type NetworkResponse =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly isApiError: boolean }
