import type { Needs } from '@market/core/context'
import type { Prices } from '@market/core/ports/prices'
import type { Swaps } from '@market/core/ports/swaps'
import { findWallets, lockAccountOpen } from '@market/identity/accounts'
import { later, MINUTE } from '@market/kernel/clock'
import type { SwapId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { notOffered, priceUnavailable, quoteRejected, quoteTooLow, walletNotLinked } from './errors.ts'
import { insertSwap } from './store.ts'
import { leastAtPrice, type Swap, withSlippage } from './swap.ts'

/** A blockhash is valid for a little longer. */
const EXPIRES_MS = MINUTE
const SOL_MINT = 'So11111111111111111111111111111111111111112'

interface SwapOrder {
  readonly wallet: string
  readonly amount: Usdc
  readonly slippageBps: number
}

/**
 * Requests a swap from the venue and checks its transaction, which the user then signs. The least output follows from our
 * request and from our own price, never from what the venue says about it.
 */
export async function orderSwap(
  ctx: Needs<'db' | 'transact' | 'clock' | 'ids'>,
  { venue, checker, prices }: Swaps & { readonly prices: Prices | undefined },
  userId: string,
  { wallet, amount, slippageBps }: SwapOrder,
): Promise<{ readonly swap: Swap; readonly transaction: string }> {
  const linked = await findWallets(ctx.db, userId)
  if (!linked.some(({ key, chain }) => key === wallet && chain === 'solana')) throw walletNotLinked(wallet)
  const least = await readLeast(prices, amount)
  const quote = await venue.order({ taker: wallet, amount, slippageBps })
  if (quote === undefined) throw notOffered(amount)
  if (quote.outLamports < least) throw quoteTooLow()

  const minimum = withSlippage(quote.outLamports, slippageBps)
  const minOut = minimum > least ? minimum : least
  const checked = await checker.check(quote.transaction, { taker: wallet, amount, minOut })
  if ('flaw' in checked) throw quoteRejected(checked.flaw)

  const lastValidHeight = await checker.lastValidHeight()
  const createdAt = ctx.clock.now()
  const swap: Swap = {
    id: ctx.ids.next('swp') as SwapId,
    userId,
    wallet,
    amount,
    minOut,
    messageHash: checked.messageHash,
    makerRequest: quote.requestId,
    lastValidHeight,
    status: 'ordered',
    signature: null,
    createdAt,
    expiresAt: later(createdAt, EXPIRES_MS),
    executedAt: null,
  }
  return ctx.transact(async (tx) => {
    if (!(await lockAccountOpen(tx, userId))) throw walletNotLinked(wallet)
    if (!(await insertSwap(tx, swap))) throw quoteRejected('repeated_message')
    return { swap, transaction: quote.transaction }
  })
}

/** A configured price source without a price of SOL stops the order, because its check would be missing. */
async function readLeast(prices: Prices | undefined, amount: Usdc): Promise<bigint> {
  if (prices === undefined) return 0n
  const price = (await prices.findPrices([SOL_MINT])).get(SOL_MINT)
  const least = price ? leastAtPrice(amount, price.priceUsd) : undefined
  if (least === undefined) throw priceUnavailable()
  return least
}
