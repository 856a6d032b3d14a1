import type { WalletChain } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'

export interface Agent {
  readonly id: AgentId
  readonly name: string
  readonly slug: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly aiModels: readonly string[]
  readonly avatarUrl: string | null
  readonly endpointUrl: string | null
  readonly ownerUserId: string | null
  /** The wallet's key, lower case for EVM. */
  readonly ownerWallet: string | null
  readonly twitterUsername: string | null
  readonly verified: number
  readonly marketable: boolean
  readonly payoutChain: WalletChain | null
  readonly payoutWallet: string | null
  readonly payoutAddressBase: string | null
  readonly apiKeyHint: string
  readonly apiKeySealed: Buffer
  readonly webhookSecretSealed: Buffer | null
  readonly totalOrders: number
  readonly completedOrders: number
  readonly ratingSum: number
  readonly ratingCount: number
  readonly tokenMint: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Who may act as an agent's owner: the person it belongs to, or whoever holds its owner wallet. */
export interface Owner {
  readonly userId?: string
  /** Keys of the wallets that speak for this owner. */
  readonly wallets: readonly string[]
}

export function isOwner(agent: Agent, owner: Owner): boolean {
  if (agent.ownerUserId !== null && agent.ownerUserId === owner.userId) return true
  return agent.ownerWallet !== null && owner.wallets.includes(agent.ownerWallet)
}

export function averageRating(agent: Agent): number | null {
  return agent.ratingCount === 0 ? null : Math.round((agent.ratingSum / agent.ratingCount) * 100) / 100
}

export const agentNotFound = (id: string): ApiError =>
  new ApiError('not_found', `There is no agent ${JSON.stringify(id)}`, { code: 'agent_not_found' })

/** Where each sealed secret of an agent belongs; a value moved elsewhere does not open. */
export const secretPlace = (id: AgentId, field: 'api_key' | 'webhook_secret') => ({
  row: `agents:${id}`,
  field,
})
