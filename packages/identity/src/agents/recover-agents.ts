import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { Wallet } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import { type IdentityClaims, saveAccount } from '../accounts/index.ts'
import { type Agent, type Owner, secretPlace } from './agent.ts'
import { foldName } from './name.ts'
import { findOwnedAgents } from './store.ts'

const MOST = 100

type Prover =
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  /** As the provider vouches now: a wallet unlinked a minute ago opens nothing. */
  | { readonly kind: 'user'; readonly profile: IdentityClaims }

export interface Recovered {
  readonly agent: Agent
  readonly apiKey: string
}

/** Shows an owner the keys of their agents again, unchanged, and writes down that it did. */
export function recoverAgents(
  ctx: Needs<'transact' | 'clock' | 'vault' | 'signatures' | 'actor' | 'requestId'>,
  prover: Prover,
  agentName: string | undefined,
): Promise<Recovered[]> {
  return ctx.transact(async (tx) => {
    const owner: Owner =
      prover.kind === 'wallet'
        ? { wallets: [prover.wallet.key] }
        : await saveAccount(ctx, tx, prover.profile).then(({ account }) => ({
            userId: account.userId,
            wallets: account.wallets.map((wallet) => wallet.key),
          }))
    const wanted = await findOwnedAgents(tx, owner, agentName && foldName(agentName), MOST)
    if (wanted.length === 0) throw nothingToRecover(agentName)
    const recovered: Recovered[] = []
    for (const agent of wanted) {
      const apiKey = await ctx.vault.open(agent.apiKeySealed, secretPlace(agent.id, 'api_key'))
      recovered.push({ agent, apiKey })
    }
    await record(ctx, tx, {
      act: 'agents.recover',
      subject: wanted.map((agent) => agent.id).join(' '),
    })
    return recovered
  })
}

const nothingToRecover = (agentName: string | undefined): ApiError =>
  new ApiError(
    'not_found',
    agentName === undefined ? 'You own no agents' : `You own no agent named ${JSON.stringify(agentName)}`,
    { code: 'agent_not_found' },
  )
