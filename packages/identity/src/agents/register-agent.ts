import type { Needs } from '@market/core/context'
import { createWallet } from '@market/core/custody'
import type { Wallet, WalletEvidence } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { IdentityClaims } from '../accounts/index.ts'
import { checkName, type Skeletons, skeletonsOf, slugOf } from '../names/index.ts'
import { type Agent, secretPlace } from './agent.ts'
import { newWebhookSecret, sealedApiKey } from './api-key.ts'
import { findAgentsNamed } from './naming/find-named.ts'
import { freeName, isUnused } from './naming/free-name.ts'
import { nameConflict } from './naming/name-conflict.ts'
import { openAccount } from './open-account.ts'
import { publishAgent } from './publish-agent.ts'
import { freeAgentSlug, insertAgent } from './store.ts'

/** A wallet that signed the request, a signed-in user, or none. */
type NewOwner =
  | { readonly kind: 'none' }
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  /** The wallet is linked to the user, and signed too. */
  | { readonly kind: 'user'; readonly profile: IdentityClaims; readonly wallet?: Wallet | undefined }

export interface Registration {
  readonly name: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly aiModels: readonly string[]
  readonly endpointUrl: string | undefined
  readonly avatarUrl: string | undefined
  readonly owner: NewOwner
}

/** The secrets in clear, for the response to the registration. */
export interface Registered {
  readonly agent: Agent
  readonly apiKey: string
  readonly webhookSecret: string | null
  readonly solanaAddress: string
}

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'outbound' | 'signatures' | 'requestId'>

export async function registerAgent(ctx: Ctx, registration: Registration): Promise<Registered> {
  checkName(registration.name)
  if (registration.endpointUrl !== undefined) await ctx.outbound.checkUrl(registration.endpointUrl)

  return ctx.transact(async (tx) =>
    createAgent(ctx, tx, registration, await resolveOwner(ctx, tx, registration.owner)),
  )
}

/** The checks before a payment is requested. The name is not reserved, so the registration may still fail later. */
export async function checkRegistration(
  ctx: Needs<'db' | 'clock' | 'outbound'>,
  { name, endpointUrl }: Pick<Registration, 'name' | 'endpointUrl'>,
): Promise<void> {
  checkName(name)
  if (endpointUrl !== undefined) await ctx.outbound.checkUrl(endpointUrl)
  const now = ctx.clock.now()
  const agents = await findAgentsNamed(ctx.db, skeletonsOf(name))
  const existing = agents.find((agent) => !isUnused(agent, now))
  if (existing !== undefined) throw nameConflict(existing, NO_OWNER, now)
}

type CreateContext = Needs<'clock' | 'ids' | 'vault'> & Partial<Needs<'requestId'>>

/** Creates the agent with its API key, webhook secret and wallet, in the caller's transaction. */
export async function createAgent(
  ctx: CreateContext,
  tx: Tx,
  registration: Omit<Registration, 'owner'>,
  owner: ResolvedOwner,
): Promise<Registered> {
  const id = ctx.ids.next('agt')
  const { apiKey, columns: keyColumns } = sealedApiKey(ctx, id)
  const webhookSecret = registration.endpointUrl === undefined ? null : newWebhookSecret()
  const now = ctx.clock.now()
  const agent = await insertWithFreeSlug(ctx, tx, owner, {
    id,
    name: registration.name,
    ...skeletonsOf(registration.name),
    slug: slugOf(registration.name),
    description: registration.description,
    capabilities: [...new Set(registration.capabilities)],
    ai_models: [...new Set(registration.aiModels)],
    endpoint_url: registration.endpointUrl ?? null,
    avatar_url: registration.avatarUrl ?? null,
    owner_user_id: owner.userId,
    owner_wallet: owner.wallet,
    owner_proven_by: owner.provenBy,
    twitter_username: owner.twitterUsername,
    verified: owner.userId !== null || owner.wallet !== null ? 1 : 0,
    ...keyColumns,
    webhook_secret_sealed:
      webhookSecret === null ? null : ctx.vault.seal(webhookSecret, secretPlace(id, 'webhook_secret')),
    last_seen_at: now,
    created_at: now,
    updated_at: now,
  })
  const solanaAddress = await createWallet(ctx, tx, agent.id)
  if (agent.marketable) await publishAgent(ctx, tx, agent)
  return { agent, apiKey, webhookSecret, solanaAddress }
}

export interface ResolvedOwner {
  readonly userId: string | null
  readonly wallet: string | null
  readonly provenBy: WalletEvidence | null
  readonly twitterUsername: string | null
}

const NO_OWNER: ResolvedOwner = { userId: null, wallet: null, provenBy: null, twitterUsername: null }

async function resolveOwner(ctx: Ctx, tx: Tx, owner: NewOwner): Promise<ResolvedOwner> {
  switch (owner.kind) {
    case 'none':
      return NO_OWNER
    case 'wallet': {
      const { key, provenBy = null } = owner.wallet
      return { ...NO_OWNER, wallet: key, provenBy }
    }
    case 'user': {
      const { account } = await openAccount(ctx, tx, owner.profile)
      const { key = null, provenBy = null } = owner.wallet ?? {}
      const { userId, twitterUsername } = account
      return { userId, wallet: key, provenBy, twitterUsername }
    }
  }
}

/** Retries when a concurrent registration got the slug or a name became free; rejects when an agent keeps the name. */
async function insertWithFreeSlug(
  ctx: CreateContext,
  tx: Tx,
  owner: ResolvedOwner,
  values: Parameters<typeof insertAgent>[1] & Skeletons & { readonly id: AgentId },
): Promise<Agent> {
  for (let tries = 0; tries < 3; tries++) {
    const slug = await freeAgentSlug(tx, values.slug)
    const agent = await insertAgent(tx, { ...values, slug })
    if (agent !== undefined) return agent
    const existing = await freeName(ctx, tx, values, values.id)
    if (existing !== undefined) throw nameConflict(existing, owner, ctx.clock.now())
  }
  throw new Error(`no free slug for ${values.slug}`)
}
