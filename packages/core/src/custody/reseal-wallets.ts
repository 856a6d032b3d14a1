import type { Needs } from '../context.ts'
import { type Resealed, reseal } from '../reseal.ts'
import { findSecretsAfter, replaceSecrets } from './store.ts'
import { secretPlace } from './wallet.ts'

/** Brings the secrets of all server wallets under the vault's current key. */
export const resealWallets = (ctx: Needs<'db' | 'vault'>): Promise<Resealed> =>
  reseal(ctx, {
    name: 'agent_wallets.secret_sealed',
    placeOf: secretPlace,
    find: (after, limit) => findSecretsAfter(ctx.db, after, limit),
    replace: (changes) => replaceSecrets(ctx.db, changes),
  })
