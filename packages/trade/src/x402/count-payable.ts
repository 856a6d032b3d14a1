import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import { openNetworks } from './open-networks.ts'
import { paidOnOneOf } from './payout-networks.ts'

/** How many services programs can buy, counted up to `most`. */
export async function countPayable(
  ctx: Needs<'db' | 'chains'>,
  { networks, most }: { readonly networks?: readonly Network[] | undefined; readonly most: number },
): Promise<number> {
  const open = openNetworks(ctx, networks)
  if (open.length === 0) return 0
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (
      select from listings
      where active and marketable and price_type = 'fixed' and ${paidOnOneOf(open)}
      order by settled_buyers desc, id desc limit ${most}
    ) as counted`.execute(ctx.db)
  return Number(rows[0]?.count ?? 0n)
}
