import type { TokenMetadata, WalletAsset, WalletCosts } from '@market/core/ports/agent-wallets'
import type { OwnerSignature } from '@market/identity/agents'
import { MINUTE } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { nameOfAsset, shownAmount } from './amount.ts'
import type { WalletTransactionStatus } from './states.ts'

export type WalletTransactionId = `wop_${string}`

/** What a server wallet is asked to do. Nothing else is ever signed or exported. */
export type Task =
  | {
      readonly kind: 'launch'
      readonly token: TokenMetadata
      readonly description: string
      readonly imageUrl: string
    }
  | { readonly kind: 'identity'; readonly token: TokenMetadata }
  | {
      readonly kind: 'send' | 'withdraw'
      readonly asset: WalletAsset
      readonly to: string
      /** In units of the asset. Null: everything, until the worker has read the balance. */
      readonly amount: bigint | null
      /** Everything: each attempt sends what its own fee leaves. */
      readonly isAll: boolean
    }
  | { readonly kind: 'export'; readonly publicKey: string }

export type WalletTransactionKind = Task['kind']
export type Transfer = Extract<Task, { kind: 'send' | 'withdraw' }>

export type WalletTransactionFailure =
  | 'underfunded'
  | 'cap_exceeded'
  | 'not_withdraw_address'
  | 'owner_not_verified'
  | 'bad_destination'
  | 'rejected_on_chain'
  | 'bad_metadata'
  | 'expired'
  | 'bad_asset'
  | 'ended_by_operators'

export interface WalletTransaction<T extends Task = Task> {
  readonly id: WalletTransactionId
  readonly agentId: AgentId
  /** The address of the server wallet. */
  readonly wallet: string
  readonly task: T
  readonly requestedBy: string
  readonly ownerSignature: OwnerSignature | null
  readonly status: WalletTransactionStatus
  /** The transaction that took effect. */
  readonly reference: string | null
  readonly mint: string | null
  readonly sealedExport: string | null
  readonly failure: WalletTransactionFailure | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** The switch that holds it; absent where nobody asked for it. */
  readonly holdCode?: string | undefined
}

/** An operation that nothing was signed for is given up after this time. */
export const GIVE_UP_MS = 60 * MINUTE

/** Whether the request that asked for the operation got 202, so that repeating it returns the result. */
export const wasAnsweredLater = (
  { status, createdAt, updatedAt }: Pick<WalletTransaction, 'status' | 'createdAt' | 'updatedAt'>,
  now: Date,
  resultWaitMs: number,
): boolean => (status === 'done' ? updatedAt : now).getTime() - createdAt.getTime() > resultWaitMs

/** The document that a mint names. The worker signs for no other one. */
export const tokenUri = (baseUrl: string, agentId: AgentId, kind: 'launch' | 'identity'): string =>
  `${baseUrl}/api/agents/${agentId}${kind === 'launch' ? '/token/metadata' : ''}`

/** The purpose that the owner wallet signs. It names everything that the operation does. */
export function signedPurpose(agentId: AgentId, task: Task): string {
  switch (task.kind) {
    case 'send': {
      const amount = task.isAll || task.amount === null ? '' : String(shownAmount(task.asset, task.amount))
      return `wallets.send:${agentId}:${nameOfAsset(task.asset)}:${task.to}:${amount}`
    }
    case 'export':
      return `wallets.export:${agentId}:${task.publicKey}`
    default:
      return ''
  }
}

/** Binds an exported key to its agent and wallet. */
export const exportInfo = ({ agentId, wallet }: Pick<WalletTransaction, 'agentId' | 'wallet'>): string =>
  `agent-market export ${agentId} ${wallet}`

/** What the wallet must hold before a launch or an identity mint: 25 % more than it costs now, and the rent of the wallet. */
export const requiredLamports = (cost: bigint, { rentExempt }: WalletCosts, minimum: bigint): bigint => {
  const live = (cost * 125n + 99n) / 100n + rentExempt
  return live > minimum ? live : minimum
}
