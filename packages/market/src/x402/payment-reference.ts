import { randomBytes, timingSafeEqual } from 'node:crypto'
import { MINUTE } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Needs } from '../context.ts'

/** How long a payment may be made for a quote that gave this reference. */
const VALID_MS = 15 * MINUTE
const MAGIC = Buffer.from('mkt2')
const UNTIL_BYTES = 4
/** Enough for a million dollars and the fee. */
const DUE_BYTES = 6
const RANDOM_BYTES = 6
const TAG_BYTES = 12
const CLAIM_BYTES = 16

/** What a reference stands for. */
interface Quoted {
  readonly subject: string
  readonly due: Usdc
}

/** A public word that travels with the payment, and a private one that only who was given the quote knows. */
export interface PaymentReference {
  readonly reference: Buffer
  readonly claim: string
  readonly expiresAt: Date
}

type Ctx = Needs<'vault' | 'clock'>

const tagOf = ({ vault }: Pick<Ctx, 'vault'>, subject: string, head: Buffer): Buffer =>
  vault.fingerprint(`x402.reference:${subject}:${head.toString('hex')}`).subarray(0, TAG_BYTES)

const claimFor = ({ vault }: Pick<Ctx, 'vault'>, reference: Buffer): Buffer =>
  vault.fingerprint(`x402.claim:${reference.toString('hex')}`).subarray(0, CLAIM_BYTES)

/** Nothing is stored for it: the reference itself tells what is due until when, and to us alone for what. */
export function giveReference(ctx: Ctx, quoted: Quoted): PaymentReference {
  const expiresAt = new Date(ctx.clock.now().getTime() + VALID_MS)
  const terms = Buffer.alloc(UNTIL_BYTES + DUE_BYTES)
  terms.writeUInt32BE(Math.floor(expiresAt.getTime() / 1_000))
  terms.writeUIntBE(Number(quoted.due), UNTIL_BYTES, DUE_BYTES)
  const head = Buffer.concat([MAGIC, terms, randomBytes(RANDOM_BYTES)])
  const reference = Buffer.concat([head, tagOf(ctx, quoted.subject, head)])
  return { reference, claim: claimFor(ctx, reference).toString('base64url'), expiresAt }
}

const HEAD_BYTES = MAGIC.length + UNTIL_BYTES + DUE_BYTES + RANDOM_BYTES
const REFERENCE_BYTES = HEAD_BYTES + TAG_BYTES

/** The reference a payment carries; a Solana memo holds it in letters. */
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
  /** What was asked for in the quote, whatever is asked for by now. */
  | { readonly kind: 'bound'; readonly due: Usdc }
  | {
      readonly kind: 'refused'
      readonly why: 'claim_required' | 'reference_of_another_quote' | 'paid_after_quote_expired'
    }

const refused = (why: Extract<ReferenceVerdict, { kind: 'refused' }>['why']): ReferenceVerdict => ({
  kind: 'refused',
  why,
})

/** A payment that carries a reference counts only with its claim, for what it was given for, in its time. */
export function judgeReference(
  ctx: Pick<Ctx, 'vault'>,
  paid: { readonly attached: string | null; readonly at: Date },
  subject: string,
  claim: string | undefined,
): ReferenceVerdict {
  const reference = referenceIn(paid.attached)
  if (reference === undefined) return { kind: 'unbound' }
  const head = reference.subarray(0, HEAD_BYTES)
  if (!timingSafeEqual(reference.subarray(HEAD_BYTES), tagOf(ctx, subject, head)))
    return refused('reference_of_another_quote')
  if (paid.at.getTime() / 1_000 > head.readUInt32BE(MAGIC.length)) return refused('paid_after_quote_expired')
  const shown = Buffer.from(claim ?? '', 'base64url')
  if (shown.length !== CLAIM_BYTES || !timingSafeEqual(shown, claimFor(ctx, reference)))
    return refused('claim_required')
  const due = usdc(BigInt(head.readUIntBE(MAGIC.length + UNTIL_BYTES, DUE_BYTES)))
  return { kind: 'bound', due }
}
