import { DAY, later } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { claimTransfer, parsePurpose } from '@market/money/payments'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { makeAgent } from '@market/testing/makers'
import type { MarketContext } from '@market/testing/market-context'

/** A workspace that is open as if it was paid now, with its money in escrow. */
export async function openWorkspace(ctx: MarketContext, quotaLimit = 50) {
  const { agent } = await makeAgent(ctx)
  const listing = await makeListing(ctx, agent.id, { priceType: 'weekly', quotaLimit })
  const buyer = walletActor()
  const { id } = await makeOrder(ctx, listing, { buyer, status: 'in_progress' })
  const endsAt = later(ctx.clock.now(), 7 * DAY)
  const row = await ctx.db
    .updateTable('orders')
    .set({ deliver_by: endsAt, workspace_ends_at: endsAt, due_at: endsAt })
    .where('id', '=', id)
    .returning(['payment_reference', 'price_micros'])
    .executeTakeFirstOrThrow()
  // As if the order had been counted when it was paid.
  await ctx.db.updateTable('listings').set({ total_orders: 1 }).where('id', '=', listing.id).execute()
  await ctx.db.updateTable('agents').set({ total_orders: 1 }).where('id', '=', agent.id).execute()
  const seen = {
    ...{ reference: row.payment_reference ?? '', index: 0, amount: usdc(row.price_micros ?? 0n) },
    ...{ payer: `0x${'a'.repeat(40)}`, at: ctx.clock.now(), block: { height: 1n, hash: '0x1' } },
    ...{ final: false, attachedData: null },
  }
  const purpose = parsePurpose(`order:${id}`)
  await ctx.transact((tx) =>
    claimTransfer(ctx, tx, { network: 'base-mainnet', seen, purpose, due: seen.amount }),
  )
  return { id, buyer, agent: agentActor(listing.agentId), agentId: listing.agentId, endsAt }
}
