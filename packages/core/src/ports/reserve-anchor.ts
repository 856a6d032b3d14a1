import type { Network } from '@market/kernel/network'
import type { PayoutOutcome } from './payout-sender.ts'

/** A signed transaction that contains a text. It is stored before it is sent and can be sent repeatedly. */
export interface SignedAnchor {
  /** The transaction's signature, known before it is sent. */
  readonly reference: string
  readonly bytes: string
  /** The last height at which the transaction can be executed. */
  readonly lastValidHeight: bigint | null
}

/** Publishes a text on a chain, so that everyone reads the same one. */
export interface ReserveAnchor {
  readonly network: Network
  /** The account that signs: the treasury, so that nobody else can publish in its name. */
  readonly account: string
  /** The first attempt is 1. Later ones offer a higher fee. */
  sign(text: string, attempt: number): Promise<SignedAnchor>
  /** Broadcasts the transaction. After an error the outcome is unknown: it may still be executed. */
  send(signed: SignedAnchor): Promise<void>
  /** The outcome over all signed transactions of one text. */
  observe(signed: readonly SignedAnchor[]): Promise<PayoutOutcome>
}

export type ReserveAnchors = Readonly<Partial<Record<Network, ReserveAnchor>>>
