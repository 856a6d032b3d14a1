import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { notify, ownerRecipient } from '@market/core/notifications'
import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import { brokenConstraint, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, agentNotFound, isOwner, type Owner, secretPlace } from './agent.ts'
import { newWebhookSecret } from './api-key.ts'
import { attachOwner } from './attach-owner.ts'
import { nameTaken } from './duplicate.ts'
import { foldName, rejectMixedScripts } from './name.ts'
import { openWebhookSecret } from './open-webhook-secret.ts'
import { lockAgent, saveAgent } from './store.ts'

/** Only what is given changes; null takes a thing away. */
export interface AgentChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly capabilities?: readonly string[] | undefined
  readonly aiModels?: readonly string[] | undefined
  readonly avatarUrl?: string | null | undefined
  readonly endpointUrl?: string | null | undefined
  readonly payoutChain?: WalletChain | null | undefined
  readonly payoutWallet?: string | null | undefined
  readonly payoutAddressBase?: string | null | undefined
}

/** The agent itself by its key, or somebody who must own it. */
type Editor = 'itself' | Owner

/** The secret is here in clear for the agent itself; an owner is not shown it. */
interface Updated {
  readonly agent: Agent
  readonly webhookSecret: string | null
}

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'outbound' | 'signatures' | 'actor' | 'requestId'>

export async function updateAgent(
  ctx: Ctx,
  id: AgentId,
  change: AgentChange,
  by: { editor: Editor; newOwner?: Wallet | undefined },
): Promise<Updated> {
  if (change.name !== undefined) rejectMixedScripts(change.name)
  rejectUnpayable(ctx, change)
  if (typeof change.endpointUrl === 'string') await ctx.outbound.check(change.endpointUrl)

  return ctx.transact(async (tx) => {
    const agent = await lockAgent(tx, id)
    if (agent === undefined) throw agentNotFound(id)
    if (by.editor !== 'itself' && !isOwner(agent, by.editor)) throw notYours(agent)
    const owned = by.newOwner === undefined ? agent : await attachOwner(ctx, tx, agent, by.newOwner)
    const saved = await saveChange(ctx, tx, owned, change)
    await tracePayout(ctx, tx, owned, saved)
    return { agent: saved, webhookSecret: await openWebhookSecret(ctx, saved) }
  })
}

async function saveChange(ctx: Ctx, tx: Tx, agent: Agent, change: AgentChange): Promise<Agent> {
  const columns = columnsOf(ctx, agent, change)
  if (Object.keys(columns).length === 0) return agent
  try {
    return await saveAgent(tx, agent.id, { ...columns, updated_at: ctx.clock.now() })
  } catch (error) {
    if (brokenConstraint(error) === 'agents_folded_name') throw nameTaken()
    throw error
  }
}

/** Where an agent's money goes is changed under everybody's eyes: it is written down, and its owner is told. */
async function tracePayout(ctx: Ctx, tx: Tx, before: Agent, after: Agent): Promise<void> {
  const [old, now] = [payoutOf(before), payoutOf(after)]
  if (JSON.stringify(old) === JSON.stringify(now)) return
  await record(ctx, tx, { act: 'agents.payout', subject: after.id, details: { from: old, to: now } })
  const owner = ownerRecipient(after)
  if (owner === undefined) return
  await notify(ctx, tx, owner, {
    kind: 'agent.payout_changed',
    title: `${after.name} is now paid elsewhere`,
    body: 'The payout settings of this agent were changed. If that was not you, recover its key and set them back.',
    data: { agent_id: after.id, ...now },
  })
}

const payoutOf = ({ payoutChain, payoutWallet, payoutAddressBase }: Agent) => ({
  payout_chain: payoutChain,
  payout_wallet: payoutWallet,
  payout_address_base: payoutAddressBase,
})

function columnsOf(ctx: Ctx, agent: Agent, change: AgentChange) {
  const wantsSecret = typeof change.endpointUrl === 'string' && agent.webhookSecretSealed === null
  const columns = {
    name: change.name,
    folded_name: change.name === undefined ? undefined : foldName(change.name),
    description: change.description,
    capabilities: change.capabilities && [...new Set(change.capabilities)],
    ai_models: change.aiModels && [...new Set(change.aiModels)],
    avatar_url: change.avatarUrl,
    endpoint_url: change.endpointUrl,
    payout_chain: change.payoutChain,
    payout_wallet: change.payoutWallet,
    payout_address_base: change.payoutAddressBase?.toLowerCase() ?? change.payoutAddressBase,
    // The secret is made the first time an endpoint is set, and stays.
    webhook_secret_sealed: wantsSecret
      ? ctx.vault.seal(newWebhookSecret(), secretPlace(agent.id, 'webhook_secret'))
      : undefined,
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof typeof columns]?: Exclude<(typeof columns)[K], undefined>
  }
}

/** Money sent to an address nobody can sign for is gone, so such an address is never kept. */
function rejectUnpayable(ctx: Ctx, change: AgentChange): void {
  const wrong = [
    { path: 'payout_wallet', address: change.payoutWallet, chain: 'solana' as const },
    { path: 'payout_address_base', address: change.payoutAddressBase, chain: 'base' as const },
  ].filter(({ address, chain }) => typeof address === 'string' && !ctx.signatures.parse(address, chain))
  if (wrong.length === 0) return
  throw new ApiError('invalid', 'This address cannot receive payouts', {
    details: wrong.map(({ path, chain }) => ({
      path,
      message: `must be a wallet on ${chain} that can sign`,
    })),
  })
}

/** A hidden agent is not there for a stranger; a public one is, but not theirs to change. */
function notYours(agent: Agent): ApiError {
  if (!agent.marketable) return agentNotFound(agent.id)
  return new ApiError('forbidden', 'This agent belongs to another owner', { code: 'not_your_agent' })
}
