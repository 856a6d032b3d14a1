import type { ObservedOutgoingTransfer, PayoutMark } from '@market/core/ports/chain'
import type { Network } from '@market/kernel/network'
import type { Payout } from '../payout.ts'

/** A payment out of a treasury with the payout that it names. */
export type MarkedTransfer = Omit<ObservedOutgoingTransfer, 'mark'> & PayoutMark

/** A payment out of a treasury, as the chain shows it. */
export interface OutgoingTransfer extends MarkedTransfer {
  readonly network: Network
  /** Whether a reorganization can no longer remove it. */
  readonly final: boolean
  /** When it was written off as a loss of the platform; null when it was not. */
  readonly writtenOffAt: Date | null
}

/** A transfer that contains the payout's id, and the round that signed it; null when no stored signature did. */
export interface TransferMatch extends OutgoingTransfer {
  readonly signedInRound: number | null
}

export type Comparison =
  | { readonly kind: 'none' }
  /** It was paid by a signature that the database has lost: record that one instead of paying again. */
  | { readonly kind: 'lost'; readonly transfer: OutgoingTransfer }
  /** The chain shows a transfer that this program would not send: the payout waits for an operator. */
  | { readonly kind: 'mismatch'; readonly reference: string }

/** Compares a payout that has not ended with the transfers on the chain that contain its id. */
export function compareWithPayout(payout: Payout, matches: readonly TransferMatch[]): Comparison {
  if (matches.some(({ signedInRound }) => signedInRound === payout.round)) return { kind: 'none' }
  const mismatch = matches.find((match) => !isLost(payout, match) && !isResolved(payout, match))
  if (mismatch !== undefined) return { kind: 'mismatch', reference: mismatch.reference }
  const lost = matches.filter((match) => isLost(payout, match))
  const transfer = lost.find(({ final }) => final) ?? lost[0]
  return transfer === undefined ? { kind: 'none' } : { kind: 'lost', transfer }
}

/** A transfer that an earlier round signed was considered without effect, so it is not recovered. */
const isLost = (payout: Payout, match: TransferMatch): boolean =>
  match.signedInRound === null && paysExactly(payout, match)

/** An operator has written it off as a loss, so it no longer blocks the payout. */
const isResolved = (payout: Payout, transfer: OutgoingTransfer): boolean =>
  transfer.writtenOffAt !== null && !paysExactly(payout, transfer)

/** Whether the transfer pays the payout's amount to its payee, in whichever round. */
export const paysExactly = (payout: Payout, { network, amount, payee }: OutgoingTransfer): boolean =>
  network === payout.network && amount === payout.amount && isSameAddress(payee, payout.payee)

/** EVM addresses are compared without case: the chain and the database may write them differently. */
export const isSameAddress = (seen: string | null, wanted: string | null): boolean => {
  if (seen === null || wanted === null) return false
  return seen === wanted || (wanted.startsWith('0x') && seen.toLowerCase() === wanted.toLowerCase())
}
