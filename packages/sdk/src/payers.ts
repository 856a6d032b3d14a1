import type { SolanaKeypair } from './wallets.ts'

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

/** Signs payments from one wallet. */
export interface Payer {
  /** The networks that it can pay on; it pays on the first unless `network` names another. */
  readonly networks: readonly [PaymentNetwork, ...PaymentNetwork[]]
  /** The signed payload. Throws when the asset is not USDC. */
  readonly sign: (requirement: PaymentRequirement) => Promise<Readonly<Record<string, unknown>>>
}

/** What a viem account has. */
export interface EvmPayerAccount {
  readonly address: `0x${string}`
  // biome-ignore lint/suspicious/noExplicitAny: the parameters of viem accounts are generic.
  readonly signTypedData: (parameters: any) => Promise<`0x${string}`>
}

/** Pays with a viem account that holds USDC. It needs no coin for gas. */
export const evmPayer = (account: EvmPayerAccount): Payer => ({
  networks: ['base-mainnet', 'alt-mainnet'],
  sign: async (requirement) => (await import('./pay-evm.ts')).signEvmPayment(account, requirement),
})

export interface SolanaPayerOptions {
  /** A Solana node; the public one by default, which allows few requests. */
  readonly rpcUrl?: string
}

/** Pays with a Solana keypair that holds USDC. It needs no SOL. */
export const solanaPayer = (keypair: SolanaKeypair, options: SolanaPayerOptions = {}): Payer => ({
  networks: ['solana-mainnet'],
  sign: async (requirement) =>
    (await import('./pay-solana.ts')).signSolanaPayment(keypair, requirement, options.rpcUrl),
})
