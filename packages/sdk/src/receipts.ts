import type { Receipt } from './generated/types.ts'

/** Why a receipt is not valid. */
export type ReceiptProblem = 'malformed' | 'wrong_type' | 'unknown_key' | 'signature_wrong' | 'wrong_issuer'

/** A text that is not a receipt of the marketplace, or was changed. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError'
  readonly reason: ReceiptProblem

  constructor(reason: ReceiptProblem, message: string) {
    super(message)
    this.reason = reason
  }
}

export interface TrustedKeys {
  /** `keys` of the marketplace's `/.well-known/jwks.json`. A copy of it works without a connection. */
  readonly keys: readonly unknown[]
  /** The marketplace that must have issued the receipt, such as `https://market.example`. */
  readonly issuer: string
}

const TYPE = 'receipt+jwt'
const ALGORITHM = 'EdDSA'

/** Checks the signature and the issuer of a receipt and returns what it says. Throws a `ReceiptError` otherwise. */
export async function verifyReceipt(jws: string, { keys, issuer }: TrustedKeys): Promise<Receipt> {
  const [head = '', body = '', signature = '', ...more] = jws.split('.')
  const parts = [head, body, signature].map(bytesOf)
  const [headBytes, bodyBytes, signed] = parts
  if (more.length > 0 || headBytes === undefined || bodyBytes === undefined || signed === undefined)
    throw new ReceiptError('malformed', 'It is not a JWS: three parts of base64url with dots between them.')
  const header = jsonOf(headBytes)
  if (header['typ'] !== TYPE || header['alg'] !== ALGORITHM || 'crit' in header)
    throw new ReceiptError('wrong_type', `Its header is not of typ ${TYPE} and alg ${ALGORITHM}.`)
  const key = await importKey(keys, header['kid'])
  const isSigned = await crypto.subtle.verify(
    'Ed25519',
    key,
    signed,
    new TextEncoder().encode(`${head}.${body}`),
  )
  if (!isSigned)
    throw new ReceiptError('signature_wrong', 'The signature is not of this text: it was changed.')
  const receipt = jsonOf(bodyBytes)
  if (receipt['iss'] !== issuer)
    throw new ReceiptError('wrong_issuer', `It is a receipt of ${String(receipt['iss'])}, not of ${issuer}.`)
  return receipt as unknown as Receipt
}

/** A key is for receipts only if the key set says so. Another key with the same id does not count. */
async function importKey(keys: readonly unknown[], kid: unknown) {
  const found = keys.find(
    (one): one is Readonly<Record<string, unknown>> =>
      isRecord(one) &&
      one['kid'] === kid &&
      one['kty'] === 'OKP' &&
      one['crv'] === 'Ed25519' &&
      one['alg'] === ALGORITHM &&
      one['use'] === 'sig',
  )
  if (typeof kid !== 'string' || found === undefined)
    throw new ReceiptError(
      'unknown_key',
      `It is signed with the key ${String(kid)}, which is not in the key set.`,
    )
  const publicKey = { kty: 'OKP', crv: 'Ed25519', x: String(found['x']) }
  return crypto.subtle.importKey('jwk', publicKey, 'Ed25519', false, ['verify'])
}

/** Undefined for a text that is not the one form that the bytes have: otherwise a changed last letter could be accepted. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const again = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    return again === text ? Uint8Array.from(binary, (letter) => letter.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}

function jsonOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (isRecord(value)) return value
  } catch {
    // Told below.
  }
  throw new ReceiptError('malformed', 'A part of it is not a JSON object.')
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
