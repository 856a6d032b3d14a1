import type { ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import type { Context } from '@market/core/context'
import { formatUsd } from '@market/kernel/money'
import type { ForSale } from '@market/trade/x402'
import { presentServiceSummary } from '../present-service.ts'

type PayableService = ResponseOf<Operations['listPayableServices']>['data'][number]

export const presentPayableService = (
  { listing, quote }: ForSale,
  { baseUrl }: Pick<Context, 'baseUrl'>,
): PayableService => ({
  ...presentServiceSummary(listing),
  x402_price_usd: formatUsd(quote.due),
  amount: quote.due.toString(),
  networks: quote.ways.map(({ network }) => network),
  resource: `${baseUrl}${quote.path}`,
  pay_url: payUrl(listing, baseUrl),
})

export const payUrl = ({ id }: ForSale['listing'], baseUrl: string): string =>
  `${baseUrl}/api/x402/pay?service_id=${id}`
