/** The `typ` header of a receipt. No access token has it, and nothing else is signed with the keys of receipts. */
export const RECEIPT_TYPE = 'receipt+jwt'

/** A public key that verifies receipts, as `/.well-known/jwks.json` publishes it. */
export interface ReceiptKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  /** The JWK thumbprint of the key (RFC 7638). */
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}

export interface ReceiptSigner {
  /** The key that signs, and those whose receipts stay valid. */
  readonly keys: readonly ReceiptKey[]
  /** A JWS in the compact form. The same claims give the same bytes until the key is changed. */
  sign(claims: object): Promise<string>
}
