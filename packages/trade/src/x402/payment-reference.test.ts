import { MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { testClock } from '@market/testing/clock'
import { rotateKeys, testKeys } from '@market/testing/keys'
import { expect, test } from 'vitest'
import { createReference, isIssuedClaim, judgeReference } from './payment-reference.ts'

const clock = testClock()
const keys = testKeys()
const ctx = { clock, vault: keys.vault }
const SUBJECT = 'service:svc_1'
const DUE = usdc(11_000_000n)

const quote = () => createReference(ctx, { subject: SUBJECT, due: DUE })
const paidWith = (reference: Buffer) => ({ attached: reference.toString('hex'), at: clock.now() })

test('judgeReference: binds a payment to its quote when the claim is given', () => {
  const { reference, claim } = quote()
  expect(judgeReference(ctx, paidWith(reference), SUBJECT, claim)).toEqual({ kind: 'bound', due: DUE })
})

test('judgeReference: accepts a reference that a Solana memo carries as text', () => {
  const { reference, claim } = quote()
  const attached = Buffer.from(reference.toString('base64url')).toString('hex')
  expect(judgeReference(ctx, { attached, at: clock.now() }, SUBJECT, claim)).toMatchObject({ kind: 'bound' })
})

test('judgeReference: accepts the claims of a former key while it is configured, and not after', () => {
  const { reference, claim } = quote()
  const rotated = rotateKeys(keys, 'X402_CLAIM_KEYS')
  const both = { clock, vault: rotated.both.vault }
  const newOnly = { clock, vault: rotated.newOnly.vault }
  expect(judgeReference(both, paidWith(reference), SUBJECT, claim)).toEqual({ kind: 'bound', due: DUE })
  expect(judgeReference(newOnly, paidWith(reference), SUBJECT, claim)).toMatchObject({
    code: 'reference_of_another_quote',
  })
  const newQuote = createReference(both, { subject: SUBJECT, due: DUE })
  expect(judgeReference(newOnly, paidWith(newQuote.reference), SUBJECT, newQuote.claim)).toMatchObject({
    kind: 'bound',
  })
})

test('judgeReference: rejects no claim, the claim of another quote, and a part of the claim', () => {
  const { reference, claim } = quote()
  const secret = Buffer.from(claim, 'base64url').subarray(0, 16).toString('base64url')
  for (const wrong of [undefined, quote().claim, secret])
    expect(judgeReference(ctx, paidWith(reference), SUBJECT, wrong)).toMatchObject({ code: 'claim_required' })
})

test('isIssuedClaim: true for a claim of ours for this service until its quote expires', () => {
  const { claim } = quote()
  expect(isIssuedClaim(ctx, SUBJECT, claim)).toBe(true)
  expect(isIssuedClaim(ctx, 'service:svc_2', claim)).toBe(false)
  const bytes = Buffer.from(claim, 'base64url')
  const secret = bytes.subarray(0, 16).toString('base64url')
  // Changed: the secret, and the expiry.
  const changed = [0, 21].map((at) => {
    const copy = Buffer.from(bytes)
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
    return copy.toString('base64url')
  })
  for (const invented of [undefined, '', 'x', secret, 'A'.repeat(48), ...changed])
    expect(isIssuedClaim(ctx, SUBJECT, invented)).toBe(false)
  const at = () => new Date(clock.now().getTime() + 16 * MINUTE)
  const later = { ...ctx, clock: { now: at, wallTime: at } }
  expect(isIssuedClaim(later, SUBJECT, claim)).toBe(false)
})

test('judgeReference: rejects a missing claim, the claim of another quote, and the public tag as claim', () => {
  const { reference } = quote()
  const tag = reference.subarray(-12)
  const guesses = [
    undefined,
    '',
    quote().claim,
    tag.toString('base64url'),
    reference.subarray(-16).toString('base64url'),
  ]
  for (const guess of guesses)
    expect(judgeReference(ctx, paidWith(reference), SUBJECT, guess)).toEqual({
      kind: 'rejected',
      code: 'claim_required',
    })
})

test('judgeReference: rejects a reference for another service, and one that was changed', () => {
  const { reference, claim } = quote()
  const cheaper = Buffer.from(reference)
  cheaper.writeUInt8(0, 12)
  expect(judgeReference(ctx, paidWith(reference), 'service:svc_2', claim)).toMatchObject({
    code: 'reference_of_another_quote',
  })
  expect(judgeReference(ctx, paidWith(cheaper), SUBJECT, claim)).toMatchObject({
    code: 'reference_of_another_quote',
  })
})

test('judgeReference: rejects a payment made after the quote expired', () => {
  const { reference, claim } = quote()
  const late = { ...paidWith(reference), at: new Date(clock.now().getTime() + 16 * MINUTE) }
  expect(judgeReference(ctx, late, SUBJECT, claim)).toMatchObject({ code: 'paid_after_quote_expired' })
})

test('createReference: two quotes have different references and claims', () => {
  const quotes = Array.from({ length: 1_000 }, quote)
  expect(new Set(quotes.map((one) => one.reference.toString('hex'))).size).toBe(1_000)
  expect(new Set(quotes.map((one) => one.claim)).size).toBe(1_000)
})
