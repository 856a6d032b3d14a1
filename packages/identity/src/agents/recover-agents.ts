import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { notify, ownerRecipients } from '@market/core/notifications'
import type { Wallet } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { IdentityClaims } from '../accounts/index.ts'
import { skeletonsOf } from '../names/index.ts'
import { type Agent, type Owner, secretPlace } from './agent.ts'
import { END_LEAK } from './notify-owner.ts'
import { openAccount } from './open-account.ts'
import { recordOwnerKey } from './payout/payout-address.ts'
import { findOwnedAgents } from './store.ts'

const MAX_AGENTS = 100

type Claimant =
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  /** Current claims of the identity provider, so that a wallet that was just unlinked does not count. */
  | { readonly kind: 'user'; readonly profile: IdentityClaims }

export interface Recovered {
  readonly agent: Agent
  readonly apiKey: string
}

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'signatures' | 'actor' | 'requestId'>

/** Returns the unchanged API keys of the owner's agents, records that in the audit log and notifies the owner. */
export function recoverAgents(
  ctx: Ctx,
  claimant: Claimant,
  agentName: string | undefined,
): Promise<Recovered[]> {
  return ctx.transact(async (tx) => {
    const owner: Owner =
      claimant.kind === 'wallet'
        ? { wallets: [claimant.wallet] }
        : await openAccount(ctx, tx, claimant.profile).then(({ account }) => ({
            userId: account.userId,
            wallets: account.wallets,
          }))
    const skeleton = agentName === undefined ? undefined : skeletonsOf(agentName).name_skeleton
    const agents = await findOwnedAgents(tx, owner, skeleton, { limit: MAX_AGENTS })
    if (agents.length === 0) throw noOwnedAgent(agentName)
    const recovered: Recovered[] = []
    for (const found of agents) {
      const agent = claimant.kind === 'wallet' ? await recordOwnerKey(tx, found, claimant.wallet) : found
      const apiKey = await ctx.vault.open(agent.apiKeySealed, secretPlace(agent.id, 'api_key'))
      recovered.push({ agent, apiKey })
    }
    await record(ctx, tx, {
      act: 'agents.recover',
      subject: agents.map((agent) => agent.id).join(' '),
    })
    await notifyRecovered(ctx, tx, agents)
    return recovered
  })
}

/** One notification per recipient, because an owner may recover 100 agents at once. */
async function notifyRecovered(ctx: Ctx, tx: Tx, agents: readonly Agent[]): Promise<void> {
  const pairs = agents.flatMap((agent) => ownerRecipients(agent).map((recipient) => ({ recipient, agent })))
  for (const [recipient, group] of Map.groupBy(pairs, (pair) => pair.recipient)) {
    const owned = group.map(({ agent }) => agent)
    const [first] = owned
    if (first === undefined) continue
    const isOne = owned.length === 1
    await notify(ctx, tx, recipient, {
      kind: 'agent.key_recovered',
      title: isOne ? `The API key of ${first.name} was recovered` : `${owned.length} API keys were recovered`,
      body: `POST /api/agents/recover returned the current API keys. ${END_LEAK}`,
      about: isOne ? first.id : 'agents',
      data: { agent_ids: owned.map(({ id }) => id) },
    })
  }
}

const noOwnedAgent = (agentName: string | undefined): ApiError =>
  new ApiError(
    'not_found',
    agentName === undefined
      ? 'You do not own an agent.'
      : `You do not own an agent named ${JSON.stringify(agentName)}.`,
    { code: 'agent_not_found' },
  )
