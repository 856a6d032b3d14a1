import { isDeepStrictEqual } from 'node:util'
import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import { brokenConstraint, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { checkName, skeletonsOf } from '../names/index.ts'
import { type Agent, agentNotFound, hasOwner, type Owner, requireOwner, secretPlace } from './agent.ts'
import { newWebhookSecret } from './api-key.ts'
import { badApiKey } from './get-agent.ts'
import { freeName } from './naming/free-name.ts'
import { nameTaken } from './naming/name-conflict.ts'
import { renameColumns } from './naming/rename.ts'
import { payableNetworks, recordOwnerKey } from './payout/payout-address.ts'
import { cancelChangeOfKey, changePayout, type PayoutSettings } from './payout/payout-settings.ts'
import { publishAgent } from './publish-agent.ts'
import { reportChanges } from './report-changes.ts'
import { payoutColumns } from './row.ts'
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
  readonly payoutByOwnerOnly?: boolean | undefined
}

/** The agent itself by its API key, or a caller who must be its owner. */
type Editor = 'itself' | Owner

interface Update {
  readonly editor: Editor
  readonly newOwner?: Wallet | undefined
  /** Of the API key that the request was authenticated with. */
  readonly keyHint?: string | undefined
}

interface Updated {
  readonly agent: Agent
  readonly webhookSecret: string | null
  readonly payableOn: readonly Network[]
}

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'outbound' | 'signatures' | 'actor' | 'requestId'>

export async function updateAgent(ctx: Ctx, id: AgentId, change: AgentChange, by: Update): Promise<Updated> {
  rejectUnpayable(ctx, change)
  if (typeof change.endpointUrl === 'string') await ctx.outbound.checkUrl(change.endpointUrl)

  return ctx.transact(async (tx) => {
    const agent = await lockAgent(tx, id)
    if (agent === undefined) throw agentNotFound(id)
    if (by.editor !== 'itself') requireOwner(agent, by.editor)
    // The key was replaced after it was verified and before the agent was locked.
    if (by.keyHint !== undefined && by.keyHint !== agent.apiKeyHint) throw badApiKey()
    await requireFreeName(ctx, tx, agent, change.name)
    // Saved before the owner, because without an owner the first payout settings take effect at once.
    const changed = await saveChange(ctx, tx, agent, change, by.editor !== 'itself')
    const saved =
      by.newOwner === undefined ? changed : await attachOwner(ctx, tx, changed, by.newOwner, by.editor)
    await reportChanges(ctx, tx, agent, saved)
    const payableOn = await payableNetworks(ctx, tx, saved)
    return { agent: saved, webhookSecret: await openWebhookSecret(ctx, saved), payableOn }
  })
}

/**
 * Sets the owner wallet of an agent without an owner, or of an agent of the user who asks for it. An agent with an owner
 * gets no wallet through its API key; otherwise a stolen key would be enough to become a second owner.
 */
async function attachOwner(ctx: Ctx, tx: Tx, agent: Agent, wallet: Wallet, editor: Editor): Promise<Agent> {
  if (agent.ownerWallet === wallet.key) return recordOwnerKey(tx, agent, wallet)
  const isUsers = editor !== 'itself' && agent.ownerUserId !== null && agent.ownerUserId === editor.userId
  if (agent.ownerWallet !== null || (agent.ownerUserId !== null && !isUsers)) {
    throw new ApiError('conflict', 'This agent already has an owner. An owner cannot be changed.', {
      code: 'owner_is_set',
    })
  }
  const owned = await saveAgent(tx, agent.id, {
    owner_wallet: wallet.key,
    owner_proven_by: wallet.provenBy ?? null,
    verified: 1,
    updated_at: ctx.clock.now(),
  })
  if (!agent.marketable) await publishAgent(ctx, tx, owned)
  await record(ctx, tx, { act: 'agents.owner', subject: agent.id, details: { wallet: wallet.key } })
  return owned
}

/** A name from before a rule stays, also when it is sent again or restored. */
async function requireFreeName(ctx: Ctx, tx: Tx, agent: Agent, name: string | undefined): Promise<void> {
  if (name === undefined || name === agent.name) return
  if (name !== agent.previousName) checkName(name)
  if ((await freeName(ctx, tx, skeletonsOf(name), agent.id)) !== undefined) throw nameTaken()
}

async function saveChange(
  ctx: Ctx,
  tx: Tx,
  agent: Agent,
  change: AgentChange,
  isOwner: boolean,
): Promise<Agent> {
  const columns = {
    ...columnsOf(ctx, agent, change, isOwner),
    ...payoutColumnsOf(ctx, agent, change, isOwner),
  }
  if (Object.keys(columns).length === 0) return agent
  try {
    return await saveAgent(tx, agent.id, { ...columns, updated_at: ctx.clock.now() })
  } catch (error) {
    // A concurrent request took the name.
    if (/^agents_(name|written)_skeleton$/.test(brokenConstraint(error) ?? '')) throw nameTaken()
    throw error
  }
}

/** The payout settings with this change, where they differ from the stored ones. */
function payoutColumnsOf(ctx: Ctx, agent: Agent, change: AgentChange, isOwner: boolean) {
  const settings = payoutChangeOf(change)
  const { payoutByOwnerOnly } = change
  if (Object.keys(settings).length === 0 && payoutByOwnerOnly === undefined) return {}
  if (!isOwner) rejectPayoutByKey(agent, change)
  const now = ctx.clock.now()
  const by = isOwner ? ('owner' as const) : ('agent' as const)
  const changed = changePayout(agent.payout, settings, { by, isOwned: hasOwner(agent), now })
  const payout = payoutByOwnerOnly === true ? cancelChangeOfKey(changed, now) : changed
  return {
    ...(isDeepStrictEqual(payout, agent.payout) ? {} : payoutColumns(payout)),
    ...(payoutByOwnerOnly === undefined || payoutByOwnerOnly === agent.payoutByOwnerOnly
      ? {}
      : { payout_by_owner_only: payoutByOwnerOnly }),
  }
}

function payoutChangeOf({
  payoutChain,
  payoutWallet,
  payoutAddressBase,
}: AgentChange): Partial<PayoutSettings> {
  return {
    ...(payoutChain !== undefined && { payoutChain }),
    ...(payoutWallet !== undefined && { payoutWallet }),
    ...(payoutAddressBase !== undefined && { payoutAddressBase: payoutAddressBase?.toLowerCase() ?? null }),
  }
}

function rejectPayoutByKey(agent: Agent, { payoutByOwnerOnly }: AgentChange): void {
  if (payoutByOwnerOnly !== undefined)
    throw new ApiError('forbidden', 'Only the owner of the agent can change payout_by_owner_only.', {
      code: 'owner_only',
    })
  if (agent.payoutByOwnerOnly)
    throw new ApiError(
      'forbidden',
      'The owner of this agent set payout_by_owner_only, so its API key cannot change payout settings.',
      { code: 'payout_by_owner_only' },
    )
}

function columnsOf(ctx: Ctx, agent: Agent, change: AgentChange, isOwner: boolean) {
  const needsSecret = typeof change.endpointUrl === 'string' && agent.webhookSecretSealed === null
  const isOtherEndpoint = change.endpointUrl !== undefined && change.endpointUrl !== agent.endpointUrl
  const columns = {
    ...(change.name !== undefined && renameColumns(agent, change.name, { isOwner, now: ctx.clock.now() })),
    description: change.description,
    capabilities: change.capabilities && [...new Set(change.capabilities)],
    ai_models: change.aiModels && [...new Set(change.aiModels)],
    avatar_url: change.avatarUrl,
    endpoint_url: change.endpointUrl,
    // fix: endpoint-unproven
    endpoint_proven_at: isOtherEndpoint ? null : undefined,
    // Created with the first endpoint. Only its owner replaces it.
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

/** Shows the agent's token or identity on its profile. */
export async function saveMint(
  tx: Tx,
  id: AgentId,
  mint: { readonly token_mint: string | null } | { readonly identity_mint: string },
  at: Date,
): Promise<void> {
  await saveAgent(tx, id, { ...mint, updated_at: at })
}
