import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { MINUTE } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'

/** How long a quote with this reference can be paid. */
const VALID_MS = 15 * MINUTE
const MAGIC = Buffer.from('mkt2')
const UNTIL_BYTES = 4
/** Enough for a million dollars and the fee. */
const DUE_BYTES = 6
const RANDOM_BYTES = 6
const TAG_BYTES = 12
const CLAIM_BYTES = 16

/** What a reference is for. */
interface Quoted {
  readonly subject: string
  readonly due: Usdc
}

/** The reference is public and is sent with the payment; only the receiver of the quote knows the claim. */
export interface PaymentReference {
  readonly reference: Buffer
  readonly claim: string
  readonly expiresAt: Date
}

type Ctx = Needs<'vault' | 'clock'>

/**
 * Both come from one HMAC: the first bytes are published with the reference, the last bytes are the claim. Parts of an
 * HMAC that do not overlap reveal nothing about each other.
 */
const secretsIn = (hmac: Buffer) => ({
  tag: hmac.subarray(0, TAG_BYTES),
  claim: hmac.subarray(-CLAIM_BYTES),
})

const textOf = (subject: string, head: Buffer): string => `x402.reference:${subject}:${head.toString('hex')}`

/** From a UUID, because Node prefetches their random bytes: six separate bytes take ten times as long. */
const randomBytes = (): Buffer =>
  Buffer.from(
    randomUUID()
      .replace('-', '')
      .slice(0, 2 * RANDOM_BYTES),
    'hex',
  )

/** Nothing is stored: the reference contains the amount and the expiry, and its tag binds it to the subject. */
export function createReference(ctx: Ctx, quoted: Quoted): PaymentReference {
  const expiresAt = new Date(ctx.clock.now().getTime() + VALID_MS)
  const terms = Buffer.alloc(UNTIL_BYTES + DUE_BYTES)
  terms.writeUInt32BE(Math.floor(expiresAt.getTime() / 1_000))
  terms.writeUIntBE(Number(quoted.due), UNTIL_BYTES, DUE_BYTES)
  const head = Buffer.concat([MAGIC, terms, randomBytes()])
  const { tag, claim } = secretsIn(ctx.vault.fingerprint('x402_claim', textOf(quoted.subject, head)))
  return {
    reference: Buffer.concat([head, tag]),
    // With the public head, so that a claim can be verified before its transfer was seen.
    claim: Buffer.concat([claim, head]).toString('base64url'),
    expiresAt,
  }
}

const HEAD_BYTES = MAGIC.length + UNTIL_BYTES + DUE_BYTES + RANDOM_BYTES
const REFERENCE_BYTES = HEAD_BYTES + TAG_BYTES

/** Whether we issued this claim for the subject, in a quote that can still be paid. */
export function isIssuedClaim(ctx: Ctx, subject: string, claim: string | undefined): boolean {
  const given = Buffer.from(claim ?? '', 'base64url')
  if (given.length !== CLAIM_BYTES + HEAD_BYTES) return false
  const head = given.subarray(CLAIM_BYTES)
  if (ctx.clock.now().getTime() / 1_000 > head.readUInt32BE(MAGIC.length)) return false
  return ctx.vault
    .fingerprints('x402_claim', textOf(subject, head))
    .some((hmac) => timingSafeEqual(given.subarray(0, CLAIM_BYTES), secretsIn(hmac).claim))
}

/** The reference attached to a payment; a Solana memo has it in base64url. */
function referenceIn(attached: string | null): Buffer | undefined {
  if (attached === null) return undefined
  const bytes = Buffer.from(attached, 'hex')
  const reference =
    bytes.length === REFERENCE_BYTES ? bytes : Buffer.from(bytes.toString('utf8'), 'base64url')
  const isOurs = reference.length === REFERENCE_BYTES && reference.subarray(0, MAGIC.length).equals(MAGIC)
  return isOurs ? reference : undefined
}

export type ReferenceVerdict =
  | { readonly kind: 'unbound' }
  /** The amount of the quote, even if the price changed since. */
  | { readonly kind: 'bound'; readonly due: Usdc }
  | {
      readonly kind: 'rejected'
      readonly code: 'claim_required' | 'reference_of_another_quote' | 'paid_after_quote_expired'
    }

const rejected = (code: Extract<ReferenceVerdict, { kind: 'rejected' }>['code']): ReferenceVerdict => ({
  kind: 'rejected',
  code,
})

/** A payment with a reference is accepted only with its claim, for the quoted subject, before the quote expired. */
export function judgeReference(
  ctx: Pick<Ctx, 'vault'>,
  paid: { readonly attached: string | null; readonly at: Date },
  subject: string,
  claim: string | undefined,
): ReferenceVerdict {
  const reference = referenceIn(paid.attached)
  if (reference === undefined) return { kind: 'unbound' }
  const head = reference.subarray(0, HEAD_BYTES)
  // The quote may be older than the current key.
  const expected = ctx.vault
    .fingerprints('x402_claim', textOf(subject, head))
    .map(secretsIn)
    .find(({ tag }) => timingSafeEqual(reference.subarray(HEAD_BYTES), tag))
  if (expected === undefined) return rejected('reference_of_another_quote')
  if (paid.at.getTime() / 1_000 > head.readUInt32BE(MAGIC.length)) return rejected('paid_after_quote_expired')
  const given = Buffer.from(claim ?? '', 'base64url')
  const isClaim =
    given.length === CLAIM_BYTES + HEAD_BYTES &&
    timingSafeEqual(given.subarray(0, CLAIM_BYTES), expected.claim)
  if (!isClaim) return rejected('claim_required')
  const due = usdc(BigInt(head.readUIntBE(MAGIC.length + UNTIL_BYTES, DUE_BYTES)))
  return { kind: 'bound', due }
}
