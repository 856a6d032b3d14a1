import { DAY, later, latest } from '@market/kernel/clock'
import type { OwnerSignature } from '../operation.ts'

/** An address to which the API key may withdraw, from `effectiveAt` on. */
export interface WithdrawAddress {
  readonly id: string
  readonly address: string
  readonly createdAt: Date
  readonly effectiveAt: Date
  /** When the database stored it, which no program can change. */
  readonly storedAt: Date
  /** Of the owner wallet, where the agent has one. */
  readonly ownerSignature: Omit<OwnerSignature, 'wallet'> | null
}

/** How long a new address waits, so that the owner can cancel what somebody else set. */
export const WITHDRAW_DELAY_MS = DAY

export interface WithdrawAddresses {
  readonly effective: WithdrawAddress | null
  readonly pending: WithdrawAddress | null
}

/** A program with the api's rights cannot name an earlier time than when the database stored the row. */
const effectiveFrom = ({ effectiveAt, storedAt }: WithdrawAddress): Date =>
  latest(effectiveAt, later(storedAt, WITHDRAW_DELAY_MS))

/** `addresses` are not cancelled, the one that was stored last first. */
export function addressesAt(addresses: readonly WithdrawAddress[], now: Date): WithdrawAddresses {
  const isEffective = (address: WithdrawAddress) => effectiveFrom(address) <= now
  return {
    effective: addresses.find(isEffective) ?? null,
    pending: addresses.find((address) => !isEffective(address)) ?? null,
  }
}
