import type { EvmPayerAccount, PaymentNetwork, PaymentRequirement } from './payment.ts'
import type { SolanaKeypair } from './wallets.ts'

/** Signs payments from one wallet. */
export interface Payer {
  /** The networks that it can pay on; it pays on the first unless `network` names another. */
  readonly networks: readonly [PaymentNetwork, ...PaymentNetwork[]]
  /** The signed payload. Throws when the asset is not USDC. */
  readonly sign: (requirement: PaymentRequirement) => Promise<Readonly<Record<string, unknown>>>
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
