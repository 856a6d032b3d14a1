import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import type { SealContext, SeedOpener } from '../ports/vault.ts'
import { type Resealed, reseal } from '../reseal.ts'
import { newSolanaKey } from './solana-key.ts'
import {
  findNewestSecrets,
  findSecret,
  findSecretsAfter,
  insertWallet,
  replaceSecrets,
  type WalletKey,
} from './store.ts'

/** Enough to notice a wrong public key with the first registrations, without reading the whole table. */
const NEWEST = 100

/**
 * Creates the server wallet of an agent. The random key is stored sealed to a public key, so that the api, which creates
 * most wallets, cannot open it again.
 */
export async function createWallet(ctx: Needs<'clock' | 'vault'>, tx: Tx, agentId: AgentId): Promise<string> {
  const { address, seed } = newSolanaKey()
  const key = { agentId, chain: 'solana', address } as const
  // fix: seed-sealed-to-worker
  const secretSealed = await ctx.vault.sealSeed(seed, secretPlace(key))
  seed.fill(0)
  await insertWallet(tx, { ...key, secretSealed, createdAt: ctx.clock.now() })
  return address
}

/** Seals the seeds of all server wallets to the current public key. */
export const resealWallets = (
  ctx: Needs<'db' | 'vault'> & { readonly seeds: SeedOpener },
): Promise<Resealed> =>
  reseal({
    name: 'agent_wallets.secret_sealed',
    placeOf: secretPlace,
    renew: async (sealed, key) => {
      if (!ctx.seeds.needsReseal(sealed)) return undefined
      const seed = await ctx.seeds.open(sealed, secretPlace(key))
      const fresh = await ctx.vault.sealSeed(seed, secretPlace(key))
      seed.fill(0)
      return fresh
    },
    find: (after, limit) => findSecretsAfter(ctx.db, after, limit),
    replace: (changes) => replaceSecrets(ctx.db, changes),
  })

/**
 * The addresses of the newest wallets whose seed this process cannot open: the api seals to a public key of another pair.
 */
export async function findUnopenableWallets(
  ctx: Needs<'db'> & { readonly seeds: SeedOpener },
): Promise<string[]> {
  const newest = await findNewestSecrets(ctx.db, NEWEST)
  return newest.flatMap(({ address, sealed }) => (ctx.seeds.hasKeyOf(sealed) ? [] : [address]))
}

/** Opens the seed of an agent's Solana wallet. The caller erases it after use. */
export async function openWallet(
  ctx: Needs<'db'> & { readonly seeds: SeedOpener },
  agentId: AgentId,
): Promise<{ readonly address: string; readonly seed: Buffer }> {
  const key = { agentId, chain: 'solana' }
  const { address, sealed } = await findSecret(ctx.db, key)
  return { address, seed: await ctx.seeds.open(sealed, secretPlace({ ...key, address })) }
}

/** A sealed secret is bound to its row: copied to another wallet, it cannot be opened. */
const secretPlace = ({ agentId, chain, address }: WalletKey): SealContext => ({
  row: `agent_wallets:${agentId}:${chain}:${address}`,
  field: 'secret',
})
