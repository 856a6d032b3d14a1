import type { CallPayment } from '@market/handlers/call'
import type { FastifyRequest } from 'fastify'

/** The payment of a request, and the fields that a purchase takes from the query or `X-Market-Brief`. */
export function paymentOf(request: FastifyRequest): CallPayment {
  const brief = headerOf(request, 'x-market-brief')
  return {
    signature: headerOf(request, 'payment-signature'),
    payment: headerOf(request, 'x-payment'),
    network: headerOf(request, 'x-payment-network'),
    claim: headerOf(request, 'x-payment-claim'),
    fields: {
      ...(brief !== undefined && { brief: decoded(brief) }),
      ...(request.query as Readonly<Record<string, unknown>>),
    },
  }
}

export const headerOf = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

/** Header values are Latin-1, so other characters are sent percent-encoded. */
function decoded(header: string): string {
  try {
    return decodeURIComponent(header)
  } catch {
    return header
  }
}
