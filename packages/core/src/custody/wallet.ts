import type { SealedPlace } from '../ports/vault.ts'

/** What names a server wallet for ever. */
export interface WalletName {
  readonly agentId: string
  readonly chain: string
  readonly address: string
}

/** Where the wallet's secret belongs; moved to another wallet it does not open. */
export const secretPlace = ({ agentId, chain, address }: WalletName): SealedPlace => ({
  row: `agent_wallets:${agentId}:${chain}:${address}`,
  field: 'secret',
})
