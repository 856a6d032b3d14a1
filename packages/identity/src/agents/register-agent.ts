import type { Needs } from '@market/core/context'
import { createWallet } from '@market/core/custody'
import type { Wallet } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { type IdentityClaims, saveAccount } from '../accounts/index.ts'
import { type Agent, secretPlace } from './agent.ts'
import { hintOf, newApiKey, newWebhookSecret } from './api-key.ts'
import { takenName } from './duplicate.ts'
import { foldName, rejectMixedScripts, slugOf } from './name.ts'
import { findAgentByFoldedName, freeSlug, insertAgent } from './store.ts'

/** Who the new agent belongs to: a wallet that signed, a person who is signed in, or nobody yet. */
type NewOwner =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  | { readonly kind: 'user'; readonly profile: IdentityClaims }

export interface Registration {
  readonly name: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly aiModels: readonly string[]
  readonly endpointUrl: string | undefined
  readonly avatarUrl: string | undefined
  readonly owner: NewOwner
}

/** The secrets are here in clear once, to be shown to the one who registered. */
export interface Registered {
  readonly agent: Agent
  readonly apiKey: string
  readonly webhookSecret: string | null
  readonly solanaAddress: string
}

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'outbound' | 'signatures'>

export async function registerAgent(ctx: Ctx, wanted: Registration): Promise<Registered> {
  rejectMixedScripts(wanted.name)
  if (wanted.endpointUrl !== undefined) await ctx.outbound.check(wanted.endpointUrl)

  return ctx.transact(async (tx) => enrolAgent(ctx, tx, wanted, await settleOwner(ctx, tx, wanted.owner)))
}

/** What must be right before anybody is asked to pay for a registration; that the name is free stays so for a moment. */
export async function checkRegistration(
  ctx: Needs<'db' | 'clock' | 'outbound'>,
  { name, endpointUrl }: Pick<Registration, 'name' | 'endpointUrl'>,
): Promise<void> {
  rejectMixedScripts(name)
  if (endpointUrl !== undefined) await ctx.outbound.check(endpointUrl)
  const holder = await findAgentByFoldedName(ctx.db, foldName(name))
  if (holder !== undefined) throw takenName(holder, NOBODY, ctx.clock.now())
}

/** The agent with its key, its secret and its wallet, in the transaction of whatever it was registered by. */
export async function enrolAgent(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  wanted: Omit<Registration, 'owner'>,
  owner: SettledOwner,
): Promise<Registered> {
  const id = ctx.ids.next('agt')
  const apiKey = newApiKey()
  const webhookSecret = wanted.endpointUrl === undefined ? null : newWebhookSecret()
  const now = ctx.clock.now()
  const agent = await insertOrReject(ctx, tx, owner, {
    id,
    name: wanted.name,
    folded_name: foldName(wanted.name),
    slug: slugOf(wanted.name),
    description: wanted.description,
    capabilities: [...new Set(wanted.capabilities)],
    ai_models: [...new Set(wanted.aiModels)],
    endpoint_url: wanted.endpointUrl ?? null,
    avatar_url: wanted.avatarUrl ?? null,
    owner_user_id: owner.userId,
    owner_wallet: owner.wallet,
    twitter_username: owner.twitterUsername,
    verified: owner.userId !== null || owner.wallet !== null ? 1 : 0,
    api_key_fingerprint: ctx.vault.fingerprint(apiKey),
    api_key_sealed: ctx.vault.seal(apiKey, secretPlace(id, 'api_key')),
    api_key_hint: hintOf(apiKey),
    webhook_secret_sealed:
      webhookSecret === null ? null : ctx.vault.seal(webhookSecret, secretPlace(id, 'webhook_secret')),
    created_at: now,
    updated_at: now,
  })
  const solanaAddress = await createWallet(ctx, tx, agent.id)
  return { agent, apiKey, webhookSecret, solanaAddress }
}

export interface SettledOwner {
  readonly userId: string | null
  readonly wallet: string | null
  readonly twitterUsername: string | null
}

const NOBODY: SettledOwner = { userId: null, wallet: null, twitterUsername: null }

async function settleOwner(ctx: Ctx, tx: Tx, owner: NewOwner): Promise<SettledOwner> {
  switch (owner.kind) {
    case 'nobody':
      return NOBODY
    case 'wallet':
      return { userId: null, wallet: owner.wallet.key, twitterUsername: null }
    case 'user': {
      const { account } = await saveAccount(ctx, tx, owner.profile)
      return { userId: account.userId, wallet: null, twitterUsername: account.twitterUsername }
    }
  }
}

/** A slug can be lost to a race between two names; a name cannot: its loser is told who has it. */
async function insertOrReject(
  ctx: Needs<'clock'>,
  tx: Tx,
  owner: SettledOwner,
  values: Parameters<typeof insertAgent>[1],
): Promise<Agent> {
  for (let round = 0; round < 3; round++) {
    const slug = await freeSlug(tx, values.slug)
    const agent = await insertAgent(tx, { ...values, slug })
    if (agent !== undefined) return agent
    const holder = await findAgentByFoldedName(tx, values.folded_name)
    if (holder !== undefined) throw takenName(holder, owner, ctx.clock.now())
  }
  throw new Error(`no free slug for ${values.slug}`)
}
