import type { Payment } from '@market/contract/define'
import type { Context } from '@market/core/context'
import { createReference, type PaymentProblem, type PurchaseResult, type Quote } from '@market/trade/x402'
import type { ApiResponse } from '../call.ts'
import { challengeBody, versionOneBody, versionTwoHeader } from './challenge.ts'

type Quoted = Extract<PurchaseResult, { kind: 'quote' }>
type Pending = Extract<PurchaseResult, { kind: 'pending' }>
export type Done = Extract<PurchaseResult, { kind: 'done' }>

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** 402 with the payment requirements. */
export function presentQuote(
  ctx: Pick<Context, 'vault' | 'clock' | 'baseUrl'>,
  version: Payment['version'],
  { quote, problem, retryAfterSeconds }: Quoted,
): ApiResponse {
  const { reference, claim, expiresAt } = createReference(ctx, quote)
  const { body, required } =
    problem === undefined ? challengeOnce(ctx, version, quote) : challenge(ctx, version, quote, problem)
  return {
    status: 402,
    body,
    headers: {
      'Cache-Control': 'no-store',
      ...(required !== undefined && { 'PAYMENT-REQUIRED': required }),
      'X-Market-Payment-Reference': reference.toString('base64url'),
      'X-Market-Payment-Claim': claim,
      'X-Market-Payment-Expires': expiresAt.toISOString(),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    },
  }
}

interface Challenge {
  readonly body: unknown
  readonly required: string | undefined
}

function challenge(
  { baseUrl }: Pick<Context, 'baseUrl'>,
  version: Payment['version'],
  quote: Quote,
  problem?: PaymentProblem,
): Challenge {
  // Clients of both versions prefer the header to the body, so version 1 gets no header.
  if (version === 1) return { body: versionOneBody(quote, baseUrl, problem), required: undefined }
  return {
    body: challengeBody(quote, baseUrl, problem),
    required: base64(versionTwoHeader(quote, baseUrl, problem)),
  }
}

const challenges = new WeakMap<Quote, Map<Payment['version'], Challenge>>()

/** Quotes are cached for a second; their challenges are built once per quote. */
function challengeOnce(ctx: Pick<Context, 'baseUrl'>, version: Payment['version'], quote: Quote): Challenge {
  const versions = challenges.get(quote) ?? new Map<Payment['version'], Challenge>()
  challenges.set(quote, versions)
  const known = versions.get(version) ?? challenge(ctx, version, quote)
  versions.set(version, known)
  return known
}

const RETRY_SECONDS = 2

/** 202: the payment was submitted and is not confirmed. The same request again returns the purchase. */
export function presentPendingPurchase(
  { facilitators }: Pick<Context, 'facilitators'>,
  { network, reference }: Pending,
): ApiResponse {
  const settlement = {
    success: false,
    errorReason: 'settlement_pending',
    transaction: reference,
    network: facilitators[network]?.caip2,
  }
  const data = { status: 'accepted', payment: 'settlement_pending', transaction: reference }
  return {
    status: 202,
    body: { success: true, data },
    headers: { ...settlementHeaders(settlement), 'Retry-After': String(RETRY_SECONDS) },
  }
}

/** The headers of a completed purchase. */
export const purchaseHeaders = (
  { facilitators }: Pick<Context, 'facilitators'>,
  { purchase: { network, reference, payer }, isReplay }: Done,
) => ({
  ...settlementHeaders({
    success: true,
    transaction: reference,
    network: facilitators[network]?.caip2 ?? network,
    payer,
  }),
  ...(isReplay && { 'Idempotent-Replayed': 'true' }),
})

const settlementHeaders = (settlement: unknown) => ({
  'Cache-Control': 'private, no-store',
  'PAYMENT-RESPONSE': base64(settlement),
  'X-PAYMENT-RESPONSE': base64(settlement),
})
