import type { Actor } from '@market/core/context'
import type { Wallet } from '@market/core/ports/signatures'
import type { Agent } from '@market/identity/agents'

/** A wallet's signature for one act, to be used up in the act's own transaction. */
export interface SingleUse {
  readonly wallet: Wallet
  readonly purpose: string
  readonly signedAtMs: number
}

/** Who calls, once checked, with what was learnt on the way. */
export interface Caller {
  readonly actor: Actor
  /** The agent behind an API key, as it was read to check the key. */
  readonly agent?: Agent
  /** A wallet that signed beside another credential. */
  readonly cosigner?: Wallet
  readonly singleUse?: SingleUse
}
