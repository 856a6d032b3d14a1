import { SECOND } from '@market/kernel/clock'

/** Shorter than the Retry-After of a transaction that was not found. */
const UNKNOWN_MS = 2 * SECOND
const MAX_UNKNOWN = 10_000
const MAX_WAITS = 4

/** What one caller may cost the nodes by naming transactions. */
export interface CallerLookups {
  /** Whether no node knew the transaction within the last two seconds, whoever named it. */
  isUnknown(transaction: string): boolean
  recordUnknown(transaction: string): void
  /** Begins a wait for a transaction and returns how to end it; undefined when the caller has too many. */
  startWait(): (() => void) | undefined
}

/** The lookups of one process, by the address of the caller. */
export type PaymentLookups = (address: string) => CallerLookups

/** Anybody can name a transaction, and each time that one is looked up costs queries of nodes that payments need. */
export function paymentLookups(nowMs: () => number = () => performance.now()): PaymentLookups {
  const unknownUntil = new Map<string, number>()
  const waits = new Map<string, number>()
  return (address) => ({
    isUnknown: (transaction) => (unknownUntil.get(transaction) ?? 0) > nowMs(),

    recordUnknown(transaction) {
      // Deleting first keeps the map in the order of the times, so that the first one is the oldest.
      unknownUntil.delete(transaction)
      unknownUntil.set(transaction, nowMs() + UNKNOWN_MS)
      const [oldest] = unknownUntil.size > MAX_UNKNOWN ? unknownUntil.keys() : []
      if (oldest !== undefined) unknownUntil.delete(oldest)
    },

    startWait() {
      const count = waits.get(address) ?? 0
      if (count >= MAX_WAITS) return undefined
      waits.set(address, count + 1)
      return () => {
        const left = (waits.get(address) ?? 1) - 1
        if (left === 0) waits.delete(address)
        else waits.set(address, left)
      }
    },
  })
}
