import type { Db, Tx } from '@market/database/transact'
import type { Clock } from '@market/kernel/clock'
import type { AgentId, IdSource } from '@market/kernel/ids'
import type { Chains } from './ports/chain.ts'
import type { Facilitators } from './ports/facilitator.ts'
import type { IdentityProvider } from './ports/identity.ts'
import type { Outbound } from './ports/outbound.ts'
import type { Signatures, Wallet } from './ports/signatures.ts'
import type { Vault } from './ports/vault.ts'

/** Who asks, once their credential was checked. */
export type Actor =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  | { readonly kind: 'user'; readonly userId: string; readonly token: string; readonly admin: boolean }
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  | { readonly kind: 'admin_key'; readonly name: string }

export interface Context {
  readonly db: Db
  /**
   * The one transaction of a request: it uses up the request's single-use signature, does the work, and keeps
   * the answer for its Idempotency-Key, all or nothing. What `work` returns is what the command returns.
   */
  readonly transact: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly ids: IdSource
  readonly vault: Vault
  readonly identity: IdentityProvider
  readonly outbound: Outbound
  readonly signatures: Signatures
  readonly chains: Chains
  readonly facilitators: Facilitators
  /** Where we are reached: addresses that we hand out begin with it. */
  readonly baseUrl: string
  readonly actor: Actor
  readonly requestId: string
}

/** What one command asks of the application. It reads as its list of needs and keeps test set-up small. */
export type Needs<K extends keyof Context> = Pick<Context, K>

/** The actor as one line of text: for the audit log and for the scope of an Idempotency-Key. */
export function nameOf(actor: Actor): string {
  switch (actor.kind) {
    case 'anonymous':
      return 'anonymous'
    case 'agent':
      return `agent:${actor.agentId}`
    case 'user':
      return `user:${actor.userId}`
    case 'wallet':
      return `wallet:${actor.wallet.key}`
    case 'admin_key':
      return `admin_key:${actor.name}`
  }
}
