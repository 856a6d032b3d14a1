import type { Context } from '@market/core/context'
import type { Limiter } from '@market/core/ports/limiter'
import type { LoginProvider } from '@market/core/ports/login'
import type { Prices } from '@market/core/ports/prices'
import type { ReceiptSigner } from '@market/core/ports/receipts'
import type { Swaps } from '@market/core/ports/swaps'
import type { VenueMarket } from '@market/core/ports/venue'
import type { CreatorFeeSettings } from '@market/custody/creator-fees'
import type { TokenSettings } from '@market/custody/tokens'
import type { WalletServices } from '@market/custody/wallets'
import type { UploadQuota } from '@market/files/uploads'
import type { Usdc } from '@market/kernel/money'
import type { TtlCache } from '@market/kernel/ttl-cache'
import type { TreasurySettings } from '@market/money/treasury'
import type { ListingCounts } from '@market/offers/listings'
import type { PaymentLookups, Quote } from '@market/trade/x402'
import type { ApiResponse, Call } from './call.ts'
import type { Operators } from './identify.ts'
import type { PublicSettings } from './public-settings.ts'
import type { SecurityEvent } from './security-events.ts'
import type { CachedDocument } from './x402/cached-document.ts'

/** The wired dependencies of the request pipeline; built once per process. */
export interface AppServices
  extends Omit<Context, 'transact' | 'actor' | 'requestId'>,
    WalletServices,
    TokenSettings,
    CreatorFeeSettings {
  readonly limiter: Limiter
  readonly operators: Operators
  /** The client of the identity provider; without it users cannot sign in with a browser. */
  readonly login?: LoginProvider | undefined
  /** Signs the receipts of orders. */
  readonly receipts: ReceiptSigner
  /** The price of a paid registration. */
  readonly registrationFee: Usdc
  /** Prices of tokens; absent without a configured source. */
  readonly prices?: Prices | undefined
  /** Swaps from USDC to SOL; absent without a configured venue. */
  readonly swaps?: Swaps | undefined
  /** Which wallets are the platform's own. */
  readonly treasury: TreasurySettings
  /** Up to this amount the payout of a trusted seller waits only a day when the payer of a purchase is not proven. */
  readonly shortWaitMax: Usdc
  /** The markets in which pools earn. */
  readonly earnMarkets: readonly VenueMarket[]
  /** What callers with a paid order may upload in a day, and what others may. */
  readonly uploadQuotas: { readonly paid: UploadQuota; readonly unpaid: UploadQuota }
  /** What `GET /api/config` shows of the settings. */
  readonly publicSettings: PublicSettings
  /** Quotes by service, cached for a second. A payment is always checked against a fresh quote. */
  readonly quotes: TtlCache<Quote>
  /** What callers may cost the nodes by naming transactions. */
  readonly paymentLookups: PaymentLookups
  /** Documents of the catalog by their query, cached for 30 seconds. */
  readonly documents: TtlCache<CachedDocument>
  /** The numbers of services by the values of filters, cached for a minute. */
  readonly listingCounts: TtlCache<ListingCounts>
  /** Responses of reads that are the same for everybody, by operation and input, kept for a second. */
  readonly sharedReads: TtlCache<ApiResponse>
  /** Writes one line of the security log. */
  readonly onSecurityEvent: (event: SecurityEvent) => void
  /** Called for every fault of ours or of a dependency. */
  readonly onFault: (error: unknown, call: Pick<Call, 'requestId'>) => void
}
