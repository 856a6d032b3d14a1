import type { ApiError } from '@market/kernel/api-error'
import type { PaymentHeaders } from '@market/trade/x402'
import type { WalletFields } from '../call.ts'

/** Where programs knock that pay with the request. */
export type DoorName = 'discover' | 'pay' | 'order' | 'v1' | 'register'

/** A request at one of the doors through which programs hire, as it arrived. */
export interface HireCall {
  readonly door: DoorName
  /** Body, query and path together; what the door knows better wins. */
  readonly input: Readonly<Record<string, unknown>>
  readonly payment: PaymentHeaders
  /** `X-Payment-Claim`: the private word of the quote. */
  readonly claim: string | undefined
  readonly wallet: WalletFields | undefined
  readonly idempotencyKey: string | undefined
  readonly address: string
  readonly requestId: string
  /** Whether this request was counted before. */
  readonly isCounted?: boolean
  readonly rejected?: ApiError
}
