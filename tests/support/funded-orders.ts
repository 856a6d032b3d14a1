import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { claimTransfer, escrowAccount, parsePurpose } from '@market/money/payments'
import { requestPayout } from '@market/money/payouts'
import { testClock } from '@market/testing/clock'
import type { EvmSigner } from '@market/testing/evm-signer'
import { marketContext } from '@market/testing/market-context'
import type { Status } from '@market/trade/orders'
import type { Market } from './market.ts'
import { makeOrderIn } from './order-in-state.ts'
import type { makeService } from './services.ts'

const NETWORK = 'base-mainnet'
const PRINCIPALS = 9

type Service = Awaited<ReturnType<typeof makeService>>

/** Gives a paid order the final transfer that paid it, with its money in escrow. */
export async function fundOrder(market: Market, id: OrderId, buyer: EvmSigner) {
  const ctx = marketContext({ db: market.db, clock: testClock(new Date(market.now())) })
  const row = await market.db
    .selectFrom('orders')
    .select(['payment_reference', 'price_micros'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const reference = row.payment_reference ?? ''
  const amount = usdc(row.price_micros ?? 0n)
  const purpose = parsePurpose(`order:${id}`)
  const seen = {
    reference,
    index: 0,
    amount,
    payer: buyer.address.toLowerCase(),
    at: ctx.clock.now(),
    block: { height: 1n, hash: reference },
    final: false,
    attachedData: null,
  }
  await ctx.transact((tx) => claimTransfer(ctx, tx, { network: NETWORK, seen, purpose, due: amount }))
  await ctx.db.updateTable('transfers').set({ state: 'final' }).where('reference', '=', reference).execute()
  return { ctx, reference, amount, purpose }
}

/** A paid order with its money in escrow. */
async function makeFunded(market: Market, service: Service, status: Status, buyer: EvmSigner) {
  const { id } = await makeOrderIn(market, service, status, buyer)
  const { ctx, reference, amount, purpose } = await fundOrder(market, id, buyer)
  const payOut = (payee: string) =>
    ctx.transact((tx) =>
      requestPayout(ctx, tx, {
        network: NETWORK,
        kind: 'payout',
        subject: id,
        payee,
        amount,
        from: escrowAccount(NETWORK, purpose),
        purpose,
      }),
    )
  return { id, reference, payOut }
}

/** Orders for each admin and agent action; for an action that succeeds once, one order per principal. */
export async function makeFundedOrders(
  market: Market,
  {
    service,
    asking,
    buyer,
    seller,
  }: Record<'service' | 'asking', Service> & Record<'buyer' | 'seller', EvmSigner>,
) {
  const toQuote: OrderId[] = []
  for (let n = 0; n < PRINCIPALS; n++)
    toQuote.push((await makeOrderIn(market, asking, 'pending_quote', buyer)).id)
  const earned = await makeFunded(market, service, 'completed', buyer)
  await earned.payOut(seller.address.toLowerCase())
  return {
    toQuote,
    paid: await makeFunded(market, service, 'paid', buyer),
    disputed: await makeFunded(market, service, 'disputed', buyer),
    earned,
  }
}
