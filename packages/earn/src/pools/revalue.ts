import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import { balanceOf, pool as equityAccount, postNew, venue as venueAccount } from '@market/money/ledger'
import type { Pool } from './pool.ts'
import type { Equity } from './shares.ts'

/** What a pool is worth after a valuation. */
export interface Valuation {
  readonly equity: Equity
  /** What the venue lacks to cover what is owed for burned shares; zero when nothing is missing. */
  readonly missing: Usdc
}

/**
 * Gives the gain or loss of a locked pool's venue to its depositors, so that the ledger has the venue's value of now. A loss
 * that exceeds what belongs to them is not posted: it is missing to those whose shares were burned, and the pool is impaired.
 */
export async function revalue(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { key, network, totalShares }: Pool,
  value: Usdc,
): Promise<Valuation> {
  const [venue, equity] = [venueAccount(network, key), equityAccount(network, key)]
  const [before, micros] = [-(await balanceOf(tx, venue)), await balanceOf(tx, equity)]
  const change = value - before
  const loss = change < 0n ? -change : 0n
  const posted = loss > micros ? -micros : change
  if (posted !== 0n) {
    const [from, to] = posted > 0n ? [venue, equity] : [equity, venue]
    await postNew(ctx, tx, {
      key: `earn.revalued:${key}:${ctx.ids.next('rev')}`,
      reason: posted > 0n ? 'earn.gain' : 'earn.loss',
      subject: key,
      network,
      moves: [{ from, to, amount: usdc(posted > 0n ? posted : -posted) }],
    })
  }
  return {
    equity: { micros: micros + posted, shares: totalShares },
    missing: usdc(loss > micros ? loss - micros : 0n),
  }
}
