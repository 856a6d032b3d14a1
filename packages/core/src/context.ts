import type { CommitThenReject, Db, Tx } from '@market/database/transact'
import type { Clock } from '@market/kernel/clock'
import type { AgentId, IdSource } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Chains } from './ports/chain.ts'
import type { Facilitators } from './ports/facilitator.ts'
import type { IdentityProvider } from './ports/identity.ts'
import type { ObjectStore } from './ports/object-store.ts'
import type { Outbound } from './ports/outbound.ts'
import { isProvenOn, type OwnWallet, type Signatures, type Wallet } from './ports/signatures.ts'
import type { Vault } from './ports/vault.ts'

/** Which credential a caller used, for logs and the audit log. It tells credentials apart, and contains none. */
export interface Credential {
  readonly kind:
    | 'api_key'
    | 'operator_key'
    | 'access_token'
    | 'oauth_token'
    | 'wallet_signature'
    /** A sign-in with a browser, or the session that it began. */
    | 'login'
  /** A digest of the credential; of a signature, the wallet. */
  readonly id: string | null
  /** The OAuth grant, and the client id of the program that got it. */
  readonly grantId?: string
  readonly program?: string
}

interface Authenticated {
  readonly credential?: Credential
}

/**
 * The authenticated caller. `wallets` are those that also signed the request or are linked to the
 * account. They are set only where an operation needs them, because linked wallets come from the identity provider.
 */
export type Actor = Authenticated & AnyActor

type AnyActor =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'agent'
      readonly agentId: AgentId
      readonly wallets?: readonly OwnWallet[]
      /** Wallets of its owner, from which its orders may be paid. They give the agent no other right of its owner. */
      readonly ownerWallets?: readonly OwnWallet[]
    }
  | {
      readonly kind: 'user'
      readonly userId: string
      /** The provider's access token. Absent where a program acts for the user by an OAuth grant. */
      readonly token?: string
      readonly admin: boolean
      readonly wallets?: readonly OwnWallet[]
    }
  | { readonly kind: 'wallet'; readonly wallet: Wallet }
  | { readonly kind: 'admin_key'; readonly name: string }

/** A part of the marketplace that acts by itself, for example a sweep. No request has it. */
export interface SystemActor extends Authenticated {
  readonly kind: 'system'
  readonly name: string
}

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
  readonly objects: ObjectStore
  /** The public URL of the API. */
  readonly baseUrl: string
  /** The origin that serves uploaded files. It is not the origin of the API or of the app. */
  readonly filesUrl: string
  /** The lowest price of a service and of a quote, so that the fee covers what a payout costs. */
  readonly minPrice: Usdc
  /** How long an agent has to answer a request in a workspace. */
  readonly generationTimeoutMs: number
  /** How long a request waits for a chain or the worker before the response is 202. */
  readonly resultWaitMs: number
  readonly actor: Actor
  readonly requestId: string
}

/** The wallets that the caller has proven to own, with how they were proven. */
export function provenWallets(actor: Actor): readonly OwnWallet[] {
  if (actor.kind === 'wallet') return [actor.wallet]
  return actor.kind === 'agent' || actor.kind === 'user' ? (actor.wallets ?? []) : []
}

/** The keys of the caller's wallets whose transfers on the network are the caller's. */
export const payerWallets = (actor: Actor, network: Network): string[] =>
  keysOn(provenWallets(actor), network)

/** Wallets of an agent's owner that did not sign the request. They count only as payers of the agent's own orders. */
export function ownerWallets(actor: Actor, network: Network): string[] {
  if (actor.kind !== 'agent') return []
  const signed = payerWallets(actor, network)
  return keysOn(actor.ownerWallets ?? [], network).filter((key) => !signed.includes(key))
}

const keysOn = (wallets: readonly OwnWallet[], network: Network): string[] =>
  wallets.filter((wallet) => isProvenOn(wallet, network)).map(({ key }) => key)

/** The part of the context that a command uses. */
export type Needs<K extends keyof Context> = Pick<Context, K>

/** The actor as text, for the audit log and for the scope of an Idempotency-Key. */
export function nameOf(actor: Actor | SystemActor): string {
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
    case 'system':
      return `system:${actor.name}`
  }
}
