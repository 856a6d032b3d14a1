import type { CommitThenReject, Db, Tx } from '@market/database/transact'
import type { Clock } from '@market/kernel/clock'
import type { AgentId, IdSource } from '@market/kernel/ids'
import type { Chains } from './ports/chain.ts'
import type { Facilitators } from './ports/facilitator.ts'
import type { IdentityProvider } from './ports/identity.ts'
import type { Outbound } from './ports/outbound.ts'
import type { Signatures, Wallet } from './ports/signatures.ts'
import type { Vault } from './ports/vault.ts'

/** The authenticated caller. */
export type Actor =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  | { readonly kind: 'user'; readonly userId: string; readonly token: string; readonly admin: boolean }
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  | { readonly kind: 'admin_key'; readonly name: string }

export interface Context {
  readonly db: Db
  /**
   * The only transaction of a request. It marks the request's signature as used, runs `work`, and stores the response
   * for the Idempotency-Key.
   */
  readonly transact: <T>(work: (tx: Tx) => Promise<T | CommitThenReject>) => Promise<T>
  readonly clock: Clock
  readonly ids: IdSource
  readonly vault: Vault
  readonly identity: IdentityProvider
  readonly outbound: Outbound
  readonly signatures: Signatures
  readonly chains: Chains
  readonly facilitators: Facilitators
  /** The public URL of the API. */
  readonly baseUrl: string
  readonly actor: Actor
  readonly requestId: string
}

/** The part of the context that a command uses. */
export type Needs<K extends keyof Context> = Pick<Context, K>

/** The actor as text, for the audit log and for the scope of an Idempotency-Key. */
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
