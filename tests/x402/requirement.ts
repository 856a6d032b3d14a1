import type { Facilitator } from '@market/core/ports/facilitator'
import type { Network, PaymentRequired } from '@x402/core/types'

export interface Quote {
  readonly asset: string
  readonly payTo: string
  readonly amount: bigint
  readonly extra?: Record<string, unknown>
}

/** The payment requirement that a client receives. */
export const requirementOf = (
  { caip2, extra }: Pick<Facilitator, 'caip2' | 'extra'>,
  quote: Quote,
): PaymentRequired => ({
  x402Version: 2,
  resource: {
    url: 'https://market.example/api/x402/pay',
    description: 'a hire',
    mimeType: 'application/json',
  },
  accepts: [
    {
      scheme: 'exact',
      network: caip2 as Network,
      maxTimeoutSeconds: 300,
      extra: { ...extra },
      ...quote,
      amount: String(quote.amount),
    },
  ],
})
