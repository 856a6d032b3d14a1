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

/** The API asks for five minutes. A signed payment that stays valid for long could be used long after it was meant. */
const MAX_TIMEOUT_SECONDS = 600

/** The requirement as it is signed: the payment is valid for at most ten minutes. */
export const limitTimeout = (requirement: PaymentRequirement): PaymentRequirement => ({
  ...requirement,
  maxTimeoutSeconds: Number.isFinite(requirement.maxTimeoutSeconds)
    ? Math.min(requirement.maxTimeoutSeconds, MAX_TIMEOUT_SECONDS)
    : MAX_TIMEOUT_SECONDS,
})
