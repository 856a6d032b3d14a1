import type { Tx } from '@market/database/transact'

interface AgentWallet {
  readonly agentId: string
  readonly chain: 'solana' | 'base'
  readonly address: string
  readonly secretSealed: Buffer
  readonly createdAt: Date
}

export async function insertWallet(tx: Tx, wallet: AgentWallet): Promise<void> {
  await tx
    .insertInto('agent_wallets')
    .values({
      agent_id: wallet.agentId,
      chain: wallet.chain,
      address: wallet.address,
      secret_sealed: wallet.secretSealed,
      created_at: wallet.createdAt,
    })
    .execute()
}
