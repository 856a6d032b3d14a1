import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import { newSolanaKey } from './solana-key.ts'
import { insertWallet } from './store.ts'
import { secretPlace } from './wallet.ts'

/** Gives an agent its server wallet. The key is random, sealed to its place, and never leaves in clear. */
export async function createWallet(ctx: Needs<'clock' | 'vault'>, tx: Tx, agentId: AgentId): Promise<string> {
  const { address, seed } = newSolanaKey()
  const name = { agentId, chain: 'solana', address } as const
  await insertWallet(tx, {
    ...name,
    secretSealed: ctx.vault.seal(seed.toString('base64'), secretPlace(name)),
    createdAt: ctx.clock.now(),
  })
  seed.fill(0)
  return address
}
