import type { SellerEvents } from './generated/types.ts'

/** Why a webhook is not accepted. */
export type WebhookProblem =
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_wrong'
  | 'timestamp_out_of_range'
  | 'body_too_large'
  | 'body_malformed'

/** A request that Agent Market did not sign, or not recently. Respond 401 and ignore it. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly reason: WebhookProblem

  constructor(reason: WebhookProblem, message: string) {
    super(message)
    this.reason = reason
  }
}

/** An event that came by webhook. */
export type WebhookEvent = {
  [Name in keyof SellerEvents]: {
    readonly event: Name
    /** Empty for events without an order. */
    readonly order_id: string
    readonly data: SellerEvents[Name]
    /** The same for every attempt. Headers are not signed: use it to recognize repetitions only. */
    readonly deliveryId: string
    readonly agentId: string
  }
}[keyof SellerEvents]

export interface Webhook {
  /** The body as it came: the signature is of its bytes. */
  readonly body: string | Uint8Array
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** `webhook_secret` of the agent. */
  readonly secret: string
  /** How far the time of the signature may be from now; 300 by default. */
  readonly toleranceSeconds?: number
}

const TOLERANCE_SECONDS = 300
const MAX_BODY_BYTES = 1_048_576
const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

/** Checks the signature of a webhook and returns its event. Throws a `WebhookError` otherwise. */
export async function verifyWebhook({
  body,
  headers,
  secret,
  toleranceSeconds,
}: Webhook): Promise<WebhookEvent> {
  if (secret === '') throw new TypeError('secret is empty. Pass webhook_secret of GET /api/agents/me.')
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const time = await signedAt(headers, secret, bytes)
  const tolerance = toleranceSeconds ?? TOLERANCE_SECONDS
  const age = Math.round(Date.now() / 1_000) - Number(time)
  if (Math.abs(age) > tolerance)
    throw new WebhookError(
      'timestamp_out_of_range',
      `The webhook was signed ${age} seconds ago, ${tolerance} are allowed. Check the clock of this machine.`,
    )
  return {
    ...readBody(bytes),
    deliveryId: headerOf(headers, 'x-market-delivery-id'),
    agentId: headerOf(headers, 'x-market-agent-id'),
  } as WebhookEvent
}

/** The same for a Web `Request`, whose body it reads. */
export async function verifyWebhookRequest(request: Request, secret: string): Promise<WebhookEvent> {
  return verifyWebhook({ body: await readBytes(request), headers: request.headers, secret })
}

/** The time of the signature of this secret: the present one, or the one that was replaced within the last hour. */
async function signedAt(headers: Webhook['headers'], secret: string, body: Uint8Array): Promise<string> {
  const header = headerOf(headers, 'x-market-signature')
  if (header === '') throw new WebhookError('signature_missing', 'The request has no X-Market-Signature.')
  if (!SIGNATURE.test(header))
    throw new WebhookError('signature_malformed', 'X-Market-Signature is not t=<seconds>,v1=<64 hex digits>.')
  for (const one of [header, headerOf(headers, 'x-market-signature-previous')]) {
    const [, time = '', hex = ''] = SIGNATURE.exec(one) ?? []
    if (hex !== '' && (await isSigned(secret, time, body, hex))) return time
  }
  throw new WebhookError(
    'signature_wrong',
    'X-Market-Signature is not of this body and secret. Pass the raw body and the current webhook_secret.',
  )
}

/** Web Crypto compares in constant time. */
async function isSigned(secret: string, time: string, body: Uint8Array, hex: string): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify'])
  const prefix = encoder.encode(`${time}.`)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return crypto.subtle.verify('HMAC', key, signature, signed)
}

function readBody(bytes: Uint8Array): object {
  try {
    const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof body === 'object' && body !== null && 'event' in body) return body
  } catch {
    // Told below.
  }
  throw new WebhookError('body_malformed', 'The body is not the JSON of an event.')
}

function headerOf(headers: Webhook['headers'], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const [, value = ''] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value.join(',')
}

/** Everybody can send a request, so no more is read than an event has. */
async function readBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (const reader = request.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
    if (length <= MAX_BODY_BYTES) continue
    await reader.cancel()
    throw new WebhookError('body_too_large', `The body has more than ${MAX_BODY_BYTES} bytes.`)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
