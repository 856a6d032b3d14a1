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
  const { rows } = await sql<{ total: string; venue: string; held: string }>`
    select total_shares::text as total, venue_shares::text as venue,
      (select coalesce(sum(shares), 0) from earn_positions)::text as held from earn_pools`.execute(db)
  for (const { total, held, venue } of rows) {
    expect(held).toBe(total)
    // Somebody else may have given it more.
    expect(await vault.sharesOf(wallet)).toBeGreaterThanOrEqual(BigInt(venue))
  }
}
