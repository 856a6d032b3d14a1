import { z } from 'zod'
import { operation } from '../define.ts'
import { Instant, resourceId, SolanaAddress } from '../schemas/common.ts'
import { UsdPrice, UsdText } from '../schemas/money.ts'

const SwapId = resourceId('swp', 'a swap')

/** The largest transaction of Solana has 1,232 bytes. */
const MAX_TRANSACTION = 1_644

const Transaction = z
  .string()
  .max(MAX_TRANSACTION)
  .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/, 'must be base64')

export const orderSwap = operation({
  id: 'orderSwap',
  group: 'Swaps',
  position: 10,
  method: 'POST',
  path: '/api/swap/order',
  summary: 'Order a swap from USDC to SOL',
  description:
    'Returns a transaction for your own wallet, checked to send exactly `amount_usd` of its USDC and to bring at least `min_out_sol`. Sign it without changing it, and send it with `POST /api/swap/execute` within 60 seconds. Nothing moves before.',
  callers: ['user'],
  limit: 'swaps.order',
  input: z.strictObject({
    wallet: SolanaAddress.describe('A Solana wallet that is linked to your account'),
    amount_usd: UsdPrice.describe('USDC to sell, more than 0 and at most 1,000,000, such as "12.50"'),
    slippage_bps: z
      .int()
      .min(1)
      .max(300)
      .default(50)
      .describe('How much less than quoted the swap may bring, in hundredths of a percent'),
  }),
  output: z.object({
    order_id: z.string(),
    transaction: z.string().describe('To sign with the wallet, in base64'),
    amount_usd: UsdText,
    min_out_sol: z
      .string()
      .regex(/^\d+\.\d{2,9}$/)
      .describe('The least that arrives in the wallet, in SOL'),
    expires_at: Instant,
  }),
  status: 201,
  errors: {
    403: ['wallet_not_linked'],
    409: ['swap_not_offered'],
    503: ['swap_price_too_low', 'swap_price_unavailable', 'swap_rejected', 'swap_unavailable'],
  },
})

export const executeSwap = operation({
  id: 'executeSwap',
  group: 'Swaps',
  position: 20,
  method: 'POST',
  path: '/api/swap/execute',
  summary: 'Execute a swap',
  description:
    'Submits the signed transaction once. `pending`: the chain does not show the outcome yet; repeat the request to read it, with a new Idempotency-Key or none. `failed` is final: nothing was moved.',
  callers: ['user'],
  limit: 'swaps.execute',
  input: z.strictObject({
    order_id: SwapId,
    signed_transaction: Transaction.describe('The ordered transaction with your signature, in base64'),
  }),
  output: z.object({
    order_id: z.string(),
    status: z.enum(['confirmed', 'failed', 'pending']),
    tx_signature: z.string(),
  }),
  errors: {
    400: ['swap_transaction_invalid'],
    404: ['swap_not_found'],
    409: ['swap_already_submitted', 'swap_expired'],
    503: ['swap_unavailable'],
  },
})
