import { DAY, later } from '@market/kernel/clock'

/** An address to which the API key may withdraw, from `effectiveAt` on. */
export interface WithdrawAddress {
  readonly id: string
  readonly address: string
  readonly createdAt: Date
  readonly effectiveAt: Date
  /** When the database stored it, which no program can change. */
  readonly storedAt: Date
}

/** How long a new address waits, so that the owner can cancel what somebody else set. */
export const WITHDRAW_DELAY_MS = DAY

export interface WithdrawAddresses {
  readonly effective: WithdrawAddress | null
  readonly pending: WithdrawAddress | null
}

/** `addresses` are not cancelled, newest first. */
export function addressesAt(addresses: readonly WithdrawAddress[], now: Date): WithdrawAddresses {
  const isEffective = ({ effectiveAt }: WithdrawAddress) => effectiveAt <= now
  return {
    effective: addresses.find(isEffective) ?? null,
    pending: addresses.find((address) => !isEffective(address)) ?? null,
  }
}

/**
 * The address that the worker sends to. It waits 24 hours from when the database stored the row, so that a program with
 * the api's rights cannot name an earlier time.
 */
export function payableAddress(addresses: readonly WithdrawAddress[], now: Date): string | null {
  const { effective } = addressesAt(addresses, now)
  return effective !== null && later(effective.storedAt, WITHDRAW_DELAY_MS) <= now ? effective.address : null
}
