import type { OwnerSignature } from '@market/identity/agents'
import { DAY, later, latest } from '@market/kernel/clock'

/** An address to which the API key may withdraw, from `effectiveAt` on. */
export interface WithdrawAddress {
  readonly id: string
  readonly address: string
  readonly createdAt: Date
  readonly effectiveAt: Date
  /** When the database stored it, which no program can change. */
  readonly storedAt: Date
  /** When the worker notified the owner; null until then. Only the worker writes it. */
  readonly notifiedAt: Date | null
  /** Of the owner wallet, where the agent has one. */
  readonly ownerSignature: Omit<OwnerSignature, 'wallet'> | null
}

/** How long a new address waits, so that the owner can cancel what somebody else set. */
export const WITHDRAW_DELAY_MS = DAY

export interface WithdrawAddresses {
  readonly effective: WithdrawAddress | null
  readonly pending: WithdrawAddress | null
}

/** The 24 hours start when the worker has notified the owner, whatever a program with the api's rights wrote. */
const isEffectiveAt = ({ effectiveAt, storedAt, notifiedAt }: WithdrawAddress, now: Date): boolean => {
  // fix: withdraw-delay-of-worker
  if (notifiedAt === null || now < later(notifiedAt, WITHDRAW_DELAY_MS)) return false
  return latest(effectiveAt, later(storedAt, WITHDRAW_DELAY_MS)) <= now
}

/** `addresses` are not cancelled, the one that was stored last first. */
export function addressesAt(addresses: readonly WithdrawAddress[], now: Date): WithdrawAddresses {
  const isEffective = (address: WithdrawAddress) => isEffectiveAt(address, now)
  return {
    effective: addresses.find(isEffective) ?? null,
    pending: addresses.find((address) => !isEffective(address)) ?? null,
  }
}
