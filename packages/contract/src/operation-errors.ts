import { type ErrorCodes, type ErrorStatus, hasBody, isWrite, type Operation } from './define.ts'
import { fieldsAt } from './describe-limits.ts'
import type { ErrorCode } from './error-codes.ts'

/** Codes of operations that are paid by naming a transfer. */
export const TRANSFER_CODES = [
  'underpaid',
  'wrong_payer',
  'ambiguous_payer',
  'payer_unknown',
  'network_not_accepted',
  'too_old',
  'too_new',
  'failed_on_chain',
  'no_transfer',
  'bad_reference',
  'own_transfer',
  'sent_by_another',
] as const satisfies readonly ErrorCode[]

/** `error` of a 402. Others come from the x402 protocol and begin with `invalid_`. */
const PURCHASE_CODES = [
  'payment_required',
  'insufficient_funds',
  'no_matching_requirements',
  'transaction_not_found_yet',
  'payment_void',
  'binding_required',
  'claim_required',
  'reference_of_another_quote',
  'paid_after_quote_expired',
  'too_many_failed_payments',
  'not_payable',
  ...TRANSFER_CODES,
] as const satisfies readonly ErrorCode[]

interface Rule {
  readonly applies: (operation: Operation) => boolean
  readonly codes: ErrorCodes
}

const isAnonymous = ({ callers }: Operation): boolean => callers.includes('anonymous')
const takesCredential = ({ callers }: Operation): boolean => callers.some((kind) => kind !== 'anonymous')
const isSold = ({ payment }: Operation): boolean => payment?.when === 'always'
/** Everybody can read and buy: a credential of another kind is ignored there. */
const isOpenToAll = (operation: Operation): boolean =>
  isAnonymous(operation) && (!isWrite(operation) || isSold(operation))
const isSigned = ({ callers, cosigned }: Operation): boolean =>
  callers.includes('wallet') || cosigned === true

/** The codes that follow from the fields of an operation, so that its entry lists only its own. */
const RULES: readonly Rule[] = [
  {
    applies: () => true,
    codes: {
      400: ['invalid_input', 'invalid', 'bad_request', 'two_credentials'],
      401: ['bad_authorization'],
      429: ['rate_limited', 'too_many_connections'],
      500: ['internal'],
      503: ['unavailable'],
    },
  },
  {
    applies: takesCredential,
    codes: { 401: ['bad_api_key', 'bad_token', 'bad_admin_key', 'bad_wallet_fields'] },
  },
  { applies: (operation) => !isAnonymous(operation), codes: { 401: ['credentials_missing'] } },
  // `me` is the agent of an API key, also where everybody may read.
  {
    applies: ({ path }) => path.includes('{agent_id}'),
    codes: { 401: ['credentials_missing', 'bad_api_key'] },
  },
  {
    applies: (operation) => takesCredential(operation) && !isOpenToAll(operation),
    codes: { 403: ['wrong_credential', 'cross_site'] },
  },
  {
    // A signature is verified also where only other credentials may call.
    applies: takesCredential,
    codes: { 401: ['bad_signature', 'signature_expired', 'signature_from_future'] },
  },
  {
    // `signature_missing`: a wallet's session only reads.
    applies: (operation) => isSigned(operation) && operation.purpose !== undefined,
    codes: { 401: ['signature_used', 'signature_missing'] },
  },
  { applies: ({ setsCookie }) => setsCookie === true, codes: { 403: ['cross_site'] } },
  { applies: ({ recentLogin }) => recentLogin === true, codes: { 401: ['login_too_old'] } },
  {
    applies: (operation) => isWrite(operation) || hasBody(operation),
    codes: { 400: ['bad_json', 'too_many_keys'], 413: ['too_large'], 415: ['unsupported_media'] },
  },
  {
    applies: isWrite,
    codes: {
      400: ['bad_idempotency_key'],
      409: ['request_in_progress', 'conflict'],
      503: ['request_taken_over'],
    },
  },
  {
    // A purchase is replayed by its payment, and a conflict is 409.
    applies: (operation) => isWrite(operation) && !isSold(operation),
    codes: { 422: ['idempotency_key_reused'] },
  },
  {
    applies: (operation) => isWrite(operation) && operation.worksReadOnly !== true,
    codes: { 503: ['read_only'] },
  },
  {
    applies: ({ payment }) => payment !== undefined,
    codes: {
      400: ['malformed_payment'],
      402: PURCHASE_CODES,
      409: [
        'payment_in_progress',
        'payment_already_used',
        'payment_contested',
        'authorization_alive',
        'payment_refunded',
        'transfer_used',
      ],
    },
  },
  {
    // Paid with a payment that a wallet signed.
    applies: ({ input }) => fieldsAt(input, []).includes('signed_payment'),
    codes: {
      400: ['malformed_payment', 'payment_rejected', 'insufficient_funds', 'payment_void'],
      409: ['price_changed', 'payment_already_used', 'payment_in_progress', 'too_many_failed_payments'],
    },
  },
  {
    applies: ({ file }) => file !== undefined,
    codes: {
      400: ['bad_form', 'file_missing', 'empty_file'],
      408: ['request_timeout', 'upload_too_slow'],
      413: ['file_too_large'],
      503: ['too_many_uploads', 'storage_unavailable'],
    },
  },
]

/** The codes that an operation can return, by status: first its own, then those that follow from its fields. */
export function errorsOf(
  operation: Operation,
  more: ErrorCodes = {},
): ReadonlyMap<ErrorStatus, readonly ErrorCode[]> {
  const stops: ErrorCodes = { 503: operation.stoppedBy ?? [] }
  const parts = [
    // fix: own-codes
    operation.errors ?? {},
    more,
    ...(operation.stoppedBy === undefined ? [] : [stops]),
    ...RULES.filter(({ applies }) => applies(operation)).map(({ codes }) => codes),
  ]
  const byStatus = new Map<ErrorStatus, Set<ErrorCode>>()
  for (const part of parts)
    for (const [status, codes] of Object.entries(part)) {
      const key = Number(status) as ErrorStatus
      byStatus.set(key, new Set([...(byStatus.get(key) ?? []), ...codes]))
    }
  return new Map([...byStatus].toSorted(([a], [b]) => a - b).map(([status, codes]) => [status, [...codes]]))
}

export const statusesOf = (operation: Operation): ErrorStatus[] => [...errorsOf(operation).keys()]

/** Whether a response has a code that its operation lists. */
export function isListed(operation: Operation, status: number, code: string | undefined): boolean {
  // A quote: the response to a request without a payment has no code.
  if (status === 402 && operation.payment !== undefined)
    return code === undefined || code.startsWith('invalid_') || isIn(operation, status, code)
  return code !== undefined && isIn(operation, status, code)
}

const isIn = (operation: Operation, status: number, code: string): boolean =>
  errorsOf(operation)
    .get(status as ErrorStatus)
    ?.some((one) => one === code) === true
