import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { notify, ownerRecipient } from '@market/core/notifications'
import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import { brokenConstraint, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, agentNotFound, isOwner, type Owner, secretPlace } from './agent.ts'
import { newWebhookSecret } from './api-key.ts'
import { foldName, rejectMixedScripts } from './name.ts'
import { nameTaken } from './name-conflict.ts'
import { openWebhookSecret } from './secrets.ts'
import { lockAgent, saveAgent } from './store.ts'

/** Absent fields stay; null removes a value. */
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

/** The agent itself by its API key, or a caller who must be its owner. */
type Editor = 'itself' | Owner

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
  if (typeof change.endpointUrl === 'string') await ctx.outbound.checkUrl(change.endpointUrl)

  return ctx.transact(async (tx) => {
    const agent = await lockAgent(tx, id)
    if (agent === undefined) throw agentNotFound(id)
    if (by.editor !== 'itself' && !isOwner(agent, by.editor)) throw notOwner(agent)
    const owned = by.newOwner === undefined ? agent : await attachOwner(ctx, tx, agent, by.newOwner)
    const saved = await saveChange(ctx, tx, owned, change)
    await reportPayoutChange(ctx, tx, owned, saved)
    return { agent: saved, webhookSecret: await openWebhookSecret(ctx, saved) }
  })
}

/**
 * Sets the owner wallet of an agent without an owner. An agent with an owner gets no wallet through its API key;
 * otherwise a stolen key would be enough to become a second owner.
 */
async function attachOwner(ctx: Ctx, tx: Tx, agent: Agent, wallet: Wallet): Promise<Agent> {
  if (agent.ownerWallet === wallet.key) return agent
  if (agent.ownerWallet !== null || agent.ownerUserId !== null) {
    throw new ApiError('conflict', 'This agent already has an owner. An owner cannot be changed.', {
      code: 'owner_is_set',
    })
  }
  const owned = await saveAgent(tx, agent.id, {
    owner_wallet: wallet.key,
    verified: 1,
    updated_at: ctx.clock.now(),
  })
  await record(ctx, tx, { act: 'agents.owner', subject: agent.id, details: { wallet: wallet.key } })
  return owned
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

/** Records a change of the payout settings in the audit log and notifies the owner. */
async function reportPayoutChange(ctx: Ctx, tx: Tx, before: Agent, after: Agent): Promise<void> {
  const [from, to] = [payoutOf(before), payoutOf(after)]
  if (JSON.stringify(from) === JSON.stringify(to)) return
  await record(ctx, tx, { act: 'agents.payout', subject: after.id, details: { from, to } })
  const owner = ownerRecipient(after)
  if (owner === undefined) return
  await notify(ctx, tx, owner, {
    kind: 'agent.payout_changed',
    title: `Payout settings of ${after.name} changed`,
    body: 'The payout settings of this agent were changed. If you did not do this, recover its API key and change them back.',
    data: { agent_id: after.id, ...to },
  })
}

const payoutOf = ({ payoutChain, payoutWallet, payoutAddressBase }: Agent) => ({
  payout_chain: payoutChain,
  payout_wallet: payoutWallet,
  payout_address_base: payoutAddressBase,
})

function columnsOf(ctx: Ctx, agent: Agent, change: AgentChange) {
  const needsSecret = typeof change.endpointUrl === 'string' && agent.webhookSecretSealed === null
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
    // Created with the first endpoint and never changed.
    webhook_secret_sealed: needsSecret
      ? ctx.vault.seal(newWebhookSecret(), secretPlace(agent.id, 'webhook_secret'))
      : undefined,
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof typeof columns]?: Exclude<(typeof columns)[K], undefined>
  }
}

/** USDC sent to an address without a private key would be lost. */
function rejectUnpayable(ctx: Ctx, change: AgentChange): void {
  const wrong = [
    { path: 'payout_wallet', address: change.payoutWallet, chain: 'solana' as const },
    { path: 'payout_address_base', address: change.payoutAddressBase, chain: 'base' as const },
  ].filter(({ address, chain }) => typeof address === 'string' && !ctx.signatures.parseWallet(address, chain))
  if (wrong.length === 0) return
  throw new ApiError('invalid', 'The payout address is not a wallet that can sign. Use another address.', {
    details: wrong.map(({ path, chain }) => ({
      path,
      message: `must be a wallet on ${chain} that can sign`,
    })),
  })
}

/** Other users get 404 for a hidden agent and 403 for a public one. */
function notOwner(agent: Agent): ApiError {
  if (!agent.marketable) return agentNotFound(agent.id)
  return new ApiError('forbidden', 'This agent belongs to another owner.', { code: 'not_your_agent' })
}
