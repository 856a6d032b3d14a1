import type { VenueStep } from '@market/core/ports/venue'
import type { Usdc } from '@market/kernel/money'
import { type Account, venue } from '@market/money/ledger'
import type { Pool } from '../pools/index.ts'
import type { VenueTransferState } from './states.ts'

export type VenueTransferId = `emv_${string}`

/** Money of a pool on its way to the venue (`deploy`) or back to the treasury (`recall`). */
export interface VenueTransfer {
  readonly id: VenueTransferId
  readonly kind: 'deploy' | 'recall'
  readonly poolKey: string
  readonly network: Pool['network']
  /** The USDC of a deploy. */
  readonly amount: Usdc | null
  /** The vault's shares that a recall redeems. */
  readonly askedShares: bigint | null
  readonly state: VenueTransferState
  /** Why a deploy is taken back, or the venue transfer failed or is held. */
  readonly problem: string | null
  /** By the receipt: the vault's shares that were received or paid, and the USDC for them. */
  readonly venueShares: bigint | null
  readonly assets: Usdc | null
  /** The transaction with that receipt, or the one that returned the money. */
  readonly reference: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A step of a venue transfer as its transaction names it. */
export const actionIdOf = ({ id }: Pick<VenueTransfer, 'id'>, step: VenueStep): string => `${id}:${step}`

const NAMED = /^(emv_\w+):(approve|deposit|redeem|return)$/

/** What such a name says; undefined for another text. */
export function transferAndStepOf(
  actionId: string,
): { readonly id: VenueTransferId; readonly step: VenueStep } | undefined {
  const [, id, step] = NAMED.exec(actionId) ?? []
  return id === undefined ? undefined : { id: id as VenueTransferId, step: step as VenueStep }
}

/** The money of a venue transfer while it is under way. */
export const venueTransferAccount = ({ network, id }: Pick<VenueTransfer, 'network' | 'id'>): Account =>
  venue(network, id)
