import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { type Account, escrow } from '../ledger/index.ts'

/** What a payment pays for. The database and the ledger store it as `order:ord_…`. */
export type Purpose =
  | { readonly kind: 'order'; readonly id: OrderId }
  | { readonly kind: 'registration'; readonly id: string }
  /** A transfer that was named to accept a claim, and is refunded because it did not. */
  | { readonly kind: 'bounty'; readonly id: string }
  /** A deposit into a pool of Earn. */
  | { readonly kind: 'earn_deposit'; readonly id: string }

export type PurposeKind = Purpose['kind']

const KINDS: readonly PurposeKind[] = ['order', 'registration', 'bounty', 'earn_deposit']

export const formatPurpose = ({ kind, id }: Purpose): string => `${kind}:${id}`

export function parsePurpose(text: string): Purpose {
  const [kind, id] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)]
  const known = KINDS.find((one) => one === kind)
  assert(known !== undefined && id !== '', `"${text}" is not a payment purpose`)
  return { kind: known, id } as Purpose
}

/** The ledger account that holds a payment until it is earned or refunded. */
export const escrowAccount = (network: Network, purpose: Purpose): Account =>
  escrow(network, formatPurpose(purpose))
