import { totals } from '@market/money/ledger'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { type EarnWorld, NETWORK } from './earn-world.ts'

/** Ledger, shares and chain agree to the micro-dollar. */
export async function expectWhole({ database, network, treasury, wallet, vault }: EarnWorld): Promise<void> {
  const { db } = database
  const { imbalance, treasuryView } = await totals(db, NETWORK)
  expect(imbalance).toBe(0n)
  expect(await network.balanceOf(treasury)).toBe(treasuryView)
  const { rows } = await sql<{ total: string; queued: string; venue: string; held: string; open: string }>`
    select total_shares::text as total, queued_shares::text as queued, venue_shares::text as venue,
      (select coalesce(sum(open_shares), 0) from earn_withdrawals where pool_key = key)::text as open,
      (select coalesce(sum(shares), 0) from earn_positions where pool_key = key)::text as held from earn_pools`.execute(
    db,
  )
  for (const { total, held, queued, open, venue } of rows) {
    expect([held, open]).toEqual([total, queued])
    // Somebody else may have given it more.
    expect(await vault.sharesOf(wallet)).toBeGreaterThanOrEqual(BigInt(venue))
  }
}
