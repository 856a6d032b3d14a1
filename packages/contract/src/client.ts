import { hasBody, type Operation, pathKeysOf } from './define.ts'

type Fields = Readonly<Record<string, unknown>>

/** A wallet's signature of a request, not verified yet. */
export interface WalletFields {
  readonly wallet: unknown
  readonly signature: unknown
  readonly signedAtMs: unknown
  readonly chain: unknown
}

/** The payment headers of a request, not parsed yet. */
export interface PaymentHeaders {
  /** `PAYMENT-SIGNATURE`: a payment of x402 version 2. */
  readonly signature?: string | undefined
  /** `X-PAYMENT`: a transaction hash, or a payment of x402 version 1. */
  readonly payment?: string | undefined
  /** `X-Payment-Network` */
  readonly network?: string | undefined
  /** `X-Payment-Claim`: the secret of the quote. */
  readonly claim?: string | undefined
}

/** What a request has beside its input. */
export interface RequestOptions {
  /** An API key or an access token. */
  readonly bearer?: string | undefined
  readonly wallet?: WalletFields | undefined
  readonly payment?: PaymentHeaders | undefined
  readonly idempotencyKey?: string | undefined
}

export interface HttpRequest {
  readonly method: Operation['method']
  /** Path and query, percent-encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A value that cannot be sent where its field belongs. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError'
}

/** The HTTP request of an operation. The server reads the same input and options from it. */
export function requestOf(
  operation: Pick<Operation, 'method' | 'path'>,
  input: Fields,
  options: RequestOptions = {},
): HttpRequest {
  const { method } = operation
  const inPath = new Set(pathKeysOf(operation))
  const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => pathSegment(key, input[key]))
  const rest = Object.entries(input).filter(([key, value]) => !inPath.has(key) && value !== undefined)
  const url = hasBody(operation) ? path : path + queryOf(rest)
  const { wallet } = options
  if (method === 'GET')
    return { method, path: url, headers: { ...headersOf(options), ...(wallet && walletHeaders(wallet)) } }
  if (method === 'DELETE' && wallet === undefined) return { method, path: url, headers: headersOf(options) }
  // A signature can be longer than headers may be, so it is in the body where there can be one.
  const body = { ...(hasBody(operation) && Object.fromEntries(rest)), ...(wallet && walletBody(wallet)) }
  const headers = { ...headersOf(options), 'Content-Type': 'application/json' }
  return { method, path: url, headers, body: JSON.stringify(body) }
}

/** An empty segment, `.` and `..` would lead to another path. */
function pathSegment(key: string, value: unknown): string {
  const text = String(value ?? '').toWellFormed()
  if (/^\.{0,2}$/.test(text)) throw new UnsendableError(`${key} must not be empty, "." or ".."`)
  return encodeURIComponent(text)
}

/** A list repeats its key. */
function queryOf(fields: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams()
  for (const [key, value] of fields)
    for (const one of Array.isArray(value) && value.length > 0 ? value : [value])
      query.append(key, String(one))
  return query.size === 0 ? '' : `?${query}`
}

/** A missing part is sent as null: the API rejects it, and would ignore a wallet without a signature. */
const walletBody = ({ wallet, signature, signedAtMs, chain }: WalletFields): Fields => ({
  wallet: wallet ?? null,
  wallet_sig: signature ?? null,
  wallet_sig_ts: signedAtMs ?? null,
  ...(chain !== undefined && { wallet_chain: chain }),
})

const walletHeaders = ({ wallet, signature, signedAtMs, chain }: WalletFields) =>
  printable({
    'X-Market-Wallet': text(wallet) ?? '',
    'X-Market-Wallet-Sig': text(signature) ?? '',
    'X-Market-Wallet-Sig-Ts': text(signedAtMs) ?? '',
    'X-Market-Wallet-Chain': text(chain),
  })

const text = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))
const headersOf = ({ bearer, payment, idempotencyKey }: RequestOptions) =>
  printable({
    Authorization: bearer === undefined ? undefined : `Bearer ${bearer}`,
    'Idempotency-Key': idempotencyKey,
    'PAYMENT-SIGNATURE': payment?.signature,
    'X-PAYMENT': payment?.payment,
    'X-Payment-Network': payment?.network,
    'X-Payment-Claim': payment?.claim,
  })

/** The headers that have a value. */
function printable(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    if (!/^[\x20-\x7e]*$/.test(value))
      throw new UnsendableError(`${name} must have printable ASCII characters only`)
    given[name] = value
  }
  return given
}
