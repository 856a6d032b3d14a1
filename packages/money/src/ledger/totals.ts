import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { sumByKind } from './store.ts'

export interface Totals {
  /** What our treasury on this network must hold: all that came in and has not gone out. */
  readonly treasuryView: bigint
  /** Owed to others, by kind. */
  readonly liabilities: { readonly escrow: bigint; readonly payable: bigint; readonly surplus: bigint }
  readonly fees: bigint
  readonly suspense: bigint
  /** Treasury view less all that it is made of. Anything but zero is a fault of ours. */
  readonly imbalance: bigint
}

/** One statement, so the figures are of one moment. */
export async function totals(db: Db | Tx, network: Network): Promise<Totals> {
  const { world, escrow, payable, surplus, fees, suspense } = await sumByKind(db, network)
  const treasuryView = -world
  return {
    treasuryView,
    liabilities: { escrow, payable, surplus },
    fees,
    suspense,
    imbalance: treasuryView - (escrow + payable + surplus + fees + suspense),
  }
}
