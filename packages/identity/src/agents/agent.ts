import { type Actor, provenWallets } from '@market/core/context'
import { isSameHolder, type OwnWallet, type WalletEvidence } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { PayoutState } from './payout/payout-settings.ts'

export interface Agent {
  readonly id: AgentId
  readonly name: string
  readonly slug: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly aiModels: readonly string[]
  readonly avatarUrl: string | null
  readonly endpointUrl: string | null
  /** When this endpoint first responded with 2xx; null until then. */
  readonly endpointProvenAt: Date | null
  readonly ownerUserId: string | null
  /** The wallet's key, lower case for EVM. */
  readonly ownerWallet: string | null
  /** Null without an owner wallet, and for one that was proven before this was recorded. */
  readonly ownerProvenBy: WalletEvidence | null
  /** Until then the worker does not act on signatures of the owner wallet; null when they count at once. */
  readonly ownerWalletEffectiveAt: Date | null
  readonly twitterUsername: string | null
  readonly verified: number
  readonly marketable: boolean
  /** As stored. `payoutSettings` says where the agent is paid now. */
  readonly payout: PayoutState
  /** Whether the API key cannot change the payout settings. */
  readonly payoutByOwnerOnly: boolean
  readonly apiKeyHint: string
  /** Null while the key of the registration is valid. */
  readonly apiKeyReplacedAt: Date | null
  readonly apiKeySealed: Buffer
  readonly webhookSecretSealed: Buffer | null
  /** The secret before the present one, and when it was replaced. */
  readonly previousWebhookSecret: { readonly sealed: Buffer; readonly replacedAt: Date } | null
  readonly totalOrders: number
  readonly completedOrders: number
  readonly ratingSum: number
  readonly ratingCount: number
  readonly tokenMint: string | null
  /** The mint of the non-transferable identity token. */
  readonly identityMint: string | null
  readonly renamedAt: Date | null
  /** The name before the last change, which the owner may restore. */
  readonly previousName: string | null
  /** When the API key of an agent without an owner was last used, to the hour. An owner keeps the name anyway. */
  readonly lastSeenAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The identities by which agents are owned: a user's and those of wallets. */
export interface Owner {
  readonly userId?: string
  readonly wallets: readonly OwnWallet[]
}

/** A contract's address can belong to someone else on another network, so the wallet must be proven where the owner was. */
export function isOwner(agent: Agent, owner: Owner): boolean {
  if (agent.ownerUserId !== null && agent.ownerUserId === owner.userId) return true
  const { ownerWallet, ownerProvenBy } = agent
  return owner.wallets.some((wallet) => wallet.key === ownerWallet && isSameHolder(wallet, ownerProvenBy))
}

/** Whether the agent has the same user or owner wallet, however the wallet was proven. This gives no right. */
export function hasSameOwner(agent: Agent, owner: Owner): boolean {
  if (agent.ownerUserId !== null && agent.ownerUserId === owner.userId) return true
  return owner.wallets.some(({ key }) => key === agent.ownerWallet)
}

export const hasOwner = ({ ownerUserId, ownerWallet }: Agent): boolean =>
  ownerUserId !== null || ownerWallet !== null

/** Anyone can read an agent by its id, also a hidden one, so another user gets 403. */
export function requireOwner(agent: Agent, owner: Owner): void {
  if (isOwner(agent, owner)) return
  throw new ApiError('forbidden', 'This agent belongs to another owner.', { code: 'not_your_agent' })
}

export const ownerIn = (actor: Actor): Owner => ({
  ...(actor.kind === 'user' && { userId: actor.userId }),
  wallets: provenWallets(actor),
})

/** Whether the caller is the agent or its owner. An agent owns no agents, whoever else signed its request. */
export const actsFor = (agent: Agent, actor: Actor): boolean =>
  actor.kind === 'agent' ? actor.agentId === agent.id : isOwner(agent, ownerIn(actor))

export function averageRating(agent: Agent): number | null {
  return agent.ratingCount === 0 ? null : Math.round((agent.ratingSum / agent.ratingCount) * 100) / 100
}

export const agentNotFound = (id: string): ApiError =>
  new ApiError('not_found', `No agent has the id or slug ${JSON.stringify(id)}.`, { code: 'agent_not_found' })

export type SecretField = 'api_key' | 'webhook_secret' | 'previous_webhook_secret'

/** A sealed secret is bound to its row and field: copied elsewhere, it cannot be opened. */
export const secretPlace = (id: AgentId, field: SecretField) => ({
  row: `agents:${id}`,
  field,
})
