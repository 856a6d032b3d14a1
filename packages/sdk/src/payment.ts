export type PaymentNetwork = 'base-mainnet' | 'alt-mainnet' | 'solana-mainnet'

/** One way to pay, as the API offers it in `PAYMENT-REQUIRED` (x402 version 2). */
export interface PaymentRequirement {
  readonly scheme: string
  /** CAIP-2, for example eip155:8453. */
  readonly network: string
  readonly asset: string
  /** In the smallest unit of the asset. */
  readonly amount: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** What a viem account has. */
export interface EvmPayerAccount {
  readonly address: `0x${string}`
  /** Its parameters are generic in viem, so that only viem can name their type. */
  readonly signTypedData: (parameters: never) => Promise<`0x${string}`>
}
