import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { RECEIPT_TYPE, type ReceiptKey, type ReceiptSigner } from '@market/core/ports/receipts'
import { CompactSign } from 'jose'

/** One entry of `RECEIPT_KEYS`. A public half publishes a key that does not sign any more. */
export interface ReceiptKeyEntry {
  readonly publicKey: ReceiptKey
  readonly privateKey: KeyObject | undefined
}

const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const ENTRY = /^(private|public)-([\w-]{43}):([0-9a-f]{64})$/

const privateKeyOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })

function publicKeyOf(x: string): ReceiptKey {
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
  return { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }
}

const publicHalf = (privateKey: KeyObject): ReceiptKey =>
  publicKeyOf(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '')

/** A new key as an entry of `RECEIPT_KEYS`. */
export function newReceiptKey(): string {
  const { d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const seed = Buffer.from(d, 'base64url')
  return `private-${publicHalf(privateKeyOf(seed)).kid}:${seed.toString('hex')}`
}

/** The entry that publishes the key and cannot sign. */
export const formatPublicEntry = ({ kid, x }: ReceiptKey): string =>
  `public-${kid}:${Buffer.from(x, 'base64url').toString('hex')}`

/** Undefined when the text is not an entry. The id in it must match the key, so that a mistyped key stops the start. */
export function parseReceiptKey(text: string): ReceiptKeyEntry | undefined {
  const [, half, kid, hex = ''] = ENTRY.exec(text) ?? []
  if (half === undefined) return undefined
  const bytes = Buffer.from(hex, 'hex')
  const privateKey = half === 'private' ? privateKeyOf(bytes) : undefined
  const publicKey =
    privateKey === undefined ? publicKeyOf(bytes.toString('base64url')) : publicHalf(privateKey)
  return publicKey.kid === kid ? { publicKey, privateKey } : undefined
}

export function receiptSigner([current, ...others]: readonly [
  ReceiptKeyEntry & { readonly privateKey: KeyObject },
  ...ReceiptKeyEntry[],
]): ReceiptSigner {
  const { kid, alg } = current.publicKey
  return {
    keys: [current, ...others].map(({ publicKey }) => publicKey),
    sign: (claims) =>
      new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg, typ: RECEIPT_TYPE, kid })
        .sign(current.privateKey),
  }
}
