import type { Actor } from '@market/core/context'
import type { Wallet } from '@market/core/ports/signatures'
import type { Agent } from '@market/identity/agents'

/** A wallet signature for one action. It is marked as used in the transaction of that action. */
export interface SingleUse {
  readonly wallet: Wallet
  readonly purpose: string
  readonly signature: string
  readonly signedAtMs: number
}

/** The session of a browser, by whose cookie the request was sent. */
export interface CallerSession {
  readonly token: string
  readonly expiresAt: Date
}

/** The authenticated caller and what was read to verify the credentials. */
export interface Caller {
  readonly actor: Actor
  /** The agent of the API key, as read when the key was verified. */
  readonly agent?: Agent
  /** A wallet that signed the request in addition to another credential. */
  readonly cosigner?: Wallet
  readonly singleUse?: SingleUse
  readonly session?: CallerSession
  /** The token of the session that the browser has, where another credential counts. */
  readonly otherSession?: string
  /** What an OAuth grant allows; absent for credentials that allow everything. */
  readonly scopes?: readonly string[]
  /** How long ago the user of an access token signed in; null when the token does not say it. */
  readonly loginAgeSeconds?: number | null
}
