import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type { Network } from '@market/kernel/network'
import type { Payout } from '../payout.ts'

/** A payment out of a treasury, as the chain showed it. */
export interface OutgoingTransfer extends ObservedOutgoingTransfer {
  readonly network: Network
  /** Since when it is booked as a loss of the platform; null when it is not. */
  readonly bookedAt: Date | null
}

/** A payment that says it is this payout, and the round whose signatures name it; null when none does. */
export interface TransferMatch extends OutgoingTransfer {
  readonly namedIn: number | null
}

export type Verdict =
  | { readonly kind: 'nothing' }
  /** It was paid by something these books have lost: to be taken over instead of being paid again. */
  | { readonly kind: 'lost'; readonly sending: OutgoingTransfer }
  /** The chain shows what cannot be if we did everything right: nothing is paid until a person has looked. */
  | { readonly kind: 'strange'; readonly why: string }

/** What the payments on the chain mean for a payout that is not over yet. */
export function judge(payout: Payout, sightings: readonly TransferMatch[]): Verdict {
  if (sightings.some(({ namedIn }) => namedIn === payout.round)) return { kind: 'nothing' }
  const strange = sightings.find((sighting) => !isIts(payout, sighting) && !isWrittenOff(payout, sighting))
  if (strange !== undefined)
    return {
      kind: 'strange',
      why: `${strange.network} shows a payment of it that is not its own: ${strange.reference}`,
    }
  const its = sightings.filter((sighting) => isIts(payout, sighting))
  const lost = its.find(({ final }) => final) ?? its[0]
  return lost === undefined ? { kind: 'nothing' } : { kind: 'lost', sending: lost }
}

/** One that an earlier round signed was believed to be without effect, so it is none to take over. */
const isIts = (payout: Payout, sighting: TransferMatch): boolean =>
  sighting.namedIn === null && isAsOwed(payout, sighting)

/** A person has looked at it and booked it as a loss: it keeps the payout from nothing any more. */
const isWrittenOff = (payout: Payout, sending: OutgoingTransfer): boolean =>
  sending.bookedAt !== null && !isAsOwed(payout, sending)

/** Whether the payee got by it what the payout owes them, whichever round it was of. */
export const isAsOwed = (payout: Payout, { network, amount, payee }: OutgoingTransfer): boolean =>
  network === payout.network && amount === payout.amount && isSame(payee, payout.payee)

/** EVM addresses are the same in any case, and chains write them in one of their own. */
const isSame = (seen: string | null, wanted: string | null): boolean => {
  if (seen === null || wanted === null) return false
  return seen === wanted || (wanted.startsWith('0x') && seen.toLowerCase() === wanted.toLowerCase())
}
