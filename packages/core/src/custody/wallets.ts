import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import type { SealContext } from '../ports/vault.ts'
import { type Resealed, reseal } from '../reseal.ts'
import { newSolanaKey } from './solana-key.ts'
import { findSecretsAfter, insertWallet, replaceSecrets, type WalletKey } from './store.ts'

/** Creates the server wallet of an agent. The random key is stored sealed and never leaves the process unsealed. */
export async function createWallet(ctx: Needs<'clock' | 'vault'>, tx: Tx, agentId: AgentId): Promise<string> {
  const { address, seed } = newSolanaKey()
  const key = { agentId, chain: 'solana', address } as const
  await insertWallet(tx, {
    ...key,
    secretSealed: ctx.vault.seal(seed.toString('base64'), secretPlace(key)),
    createdAt: ctx.clock.now(),
  })
  seed.fill(0)
  return address
}

/** Seals the secrets of all server wallets with the vault's current key. */
export const resealWallets = (ctx: Needs<'db' | 'vault'>): Promise<Resealed> =>
  reseal(ctx, {
    name: 'agent_wallets.secret_sealed',
    placeOf: secretPlace,
    find: (after, limit) => findSecretsAfter(ctx.db, after, limit),
    replace: (changes) => replaceSecrets(ctx.db, changes),
  })

/** A sealed secret is bound to its row: copied to another wallet, it cannot be opened. */
const secretPlace = ({ agentId, chain, address }: WalletKey): SealContext => ({
  row: `agent_wallets:${agentId}:${chain}:${address}`,
  field: 'secret',
})
