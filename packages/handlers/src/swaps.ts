import type { Swaps } from '@market/core/ports/swaps'
import { executeSwap, formatSol, orderSwap } from '@market/custody/swaps'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { SwapId } from '@market/kernel/ids'
import { formatUsd } from '@market/kernel/money'
import { type HandlerContext, handler } from './handler.ts'
import { moneyOf } from './parse.ts'
import { requireUser } from './require-actor.ts'

function requireSwaps({ swaps }: HandlerContext): Swaps {
  if (swaps !== undefined) return swaps
  throw new ApiError('unavailable', 'This marketplace has no swap venue.', {
    code: 'swap_unavailable',
    retryAfterSeconds: 60,
  })
}

export const swapHandlers = {
  orderSwap: handler('orderSwap', {
    run: (ctx, { wallet, amount_usd, slippage_bps }) => {
      const services = { ...requireSwaps(ctx), prices: ctx.prices }
      const order = { wallet, amount: moneyOf(amount_usd), slippageBps: slippage_bps }
      return orderSwap(ctx, services, requireUser(ctx).userId, order)
    },
    present: ({ swap, transaction }) => ({
      data: {
        order_id: swap.id,
        transaction,
        amount_usd: formatUsd(swap.amount),
        min_out_sol: formatSol(swap.minOut),
        expires_at: swap.expiresAt.toISOString(),
      },
    }),
  }),

  executeSwap: handler('executeSwap', {
    run: (ctx, { order_id, signed_transaction }) =>
      executeSwap(ctx, requireSwaps(ctx), requireUser(ctx).userId, {
        id: order_id as SwapId,
        signedTransaction: signed_transaction,
      }),
    present: ({ id, status, signature }) => {
      assert(status !== 'ordered' && signature !== null, 'an executed swap has a signature')
      return { data: { order_id: id, status, tx_signature: signature } }
    },
  }),
}
