import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type { Network } from '@market/kernel/network'
import { markOf, paysMarkOnce } from '@market/kernel/payout-mark'
import type { Payout, PayoutId } from '../payout.ts'

/** A payment out of a treasury, as the chain shows it. */
export interface OutgoingTransfer extends ObservedOutgoingTransfer {
  readonly network: Network
  /** The payout that has its mark; null when this database knows none. */
  readonly payoutId: PayoutId | null
  /** Whether a reorganization can no longer remove it. */
  readonly final: boolean
  /** When it was charged to the fees or to money in suspense without its payout; null when it was not. */
  readonly writtenOffAt: Date | null
  /** The transfer whose money in suspense it was charged to; null when the fees paid it. */
  readonly pairedWith: string | null
}

/** A transfer with the payout's mark, and the round whose stored transaction it is; null on EVM, and when it is none. */
export interface TransferMatch extends OutgoingTransfer {
  readonly signedInRound: number | null
}

export type Comparison =
  | { readonly kind: 'none' }
  /** It was paid by what the database has lost: record that instead of paying again. */
  | { readonly kind: 'lost'; readonly transfer: OutgoingTransfer }
  /** The chain shows a transfer that this program would not send: the payout waits for an operator. */
  | { readonly kind: 'mismatch'; readonly reference: string }
  /** EVM: such a transfer was written off, and the chain pays nothing with its mark again. */
  | { readonly kind: 'burned' }

/** Compares a payout that has not ended with the transfers on the chain that have its mark. */
export function compareWithPayout(payout: Payout, matches: readonly TransferMatch[]): Comparison {
  if (matches.some((match) => isOwn(payout, match))) return { kind: 'none' }
  const mismatch = matches.find((match) => !isLost(payout, match) && !isResolved(payout, match))
  if (mismatch !== undefined) return { kind: 'mismatch', reference: mismatch.reference }
  const lost = matches.filter((match) => isLost(payout, match))
  const transfer = lost.find(({ final }) => final) ?? lost[0]
  if (transfer !== undefined) return { kind: 'lost', transfer }
  return matches.some((match) => isBurned(payout, match)) ? { kind: 'burned' } : { kind: 'none' }
}

const isBurned = (payout: Payout, { network, mark }: TransferMatch): boolean =>
  network === payout.network && paysMarkOnce(network) && mark === markOf(network, payout)

/** Whether it is the effect of what was signed in this round. */
export const isOwn = (payout: Payout, match: TransferMatch): boolean =>
  paysMarkOnce(match.network)
    ? payout.state === 'signed' && paysExactly(payout, match)
    : match.signedInRound === payout.round

/** A transfer that an earlier round signed was considered without effect, so it is not recovered. */
const isLost = (payout: Payout, match: TransferMatch): boolean =>
  match.signedInRound === null && paysExactly(payout, match)

/** An operator has written it off, so it no longer blocks the payout. */
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
