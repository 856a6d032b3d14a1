import type { Actor, Needs } from '@market/core/context'
import type { Facilitators, SignedPayment } from '@market/core/ports/facilitator'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import type { Intent } from '../intents/intent.ts'
import { findSigned } from '../intents/store.ts'
import type { PurposeKind } from '../purpose.ts'
import { fundsMessage, insufficientFunds, isInsufficient } from '../settlements/insufficient-funds.ts'
import { hasTooManyFailed } from '../settlements/payer-store.ts'
import { mismatchIn, requirementOn } from '../settlements/requirement.ts'
import { sendSettlement } from '../settlements/send-settlement.ts'
import {
  lockBalance,
  readSubmissionFacts,
  type Signed,
  type SubmissionFacts,
  storeSubmission,
} from '../settlements/submit-payment.ts'
import type { PurposeRule } from './purpose-rule.ts'
import {
  authorizationUsed,
  malformed,
  paymentRejected,
  priceChanged,
  tooLittle,
  tooManyFailed,
} from './signed-errors.ts'

/** A payment of x402 version 2, not verified yet. */
export interface ReadPayment extends Signed {
  /** The requirement that it was signed for, as the payer says. */
  readonly accepted: Readonly<Record<string, unknown>>
}

interface Given {
  readonly accepted: Readonly<Record<string, unknown>> & { readonly network: string }
  readonly payload: SignedPayment
}

/** Finds out who submits the payment and who paid, without asking a node. */
export function readSigned(facilitators: Facilitators, { accepted, payload }: Given): ReadPayment {
  const facilitator = Object.values(facilitators).find(({ caip2 }) => caip2 === accepted.network)
  if (facilitator === undefined)
    throw new ApiError(
      'invalid',
      `Signed payments are not accepted on ${JSON.stringify(accepted.network.slice(0, 100))}. Sign a \`requirement\` of \`payment\`, or make a transfer.`,
      { code: 'network_not_accepted' },
    )
  const proof = facilitator.parsePayment(payload)
  if (proof === undefined) throw malformed()
  return { facilitator, payment: payload, accepted, ...proof }
}

interface SigningRequest<Target> {
  readonly actor: Actor
  readonly signed: ReadPayment
  /** Reads what is paid for, without a lock. */
  readonly target: () => Promise<Target>
  /** Locks it, and rejects what cannot be paid on the network now. */
  readonly lock: (tx: Tx) => Promise<Target>
  /** The payment was submitted before: leads to what it pays for, or throws when the caller wants something else. */
  readonly again: (tx: Tx, before: Intent) => Promise<Target>
  /** Rejects a wallet that may not pay. Called once its signature is proven, so that nobody learns whose a wallet is. */
  readonly checkPayer: (payer: string) => Promise<void>
}

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains'>

/**
 * Pays for something with a payment that the caller's wallet signed, and we submit. The payment is verified before the
 * transaction starts. Under the locks of the wallet and of what is paid for, the price, the balance and that the payment is new
 * are checked again; then it is stored with the bytes of its transaction, and only then sent. A crash in between loses
 * nothing: workers send what is stored.
 */
export async function paySigned<Kind extends PurposeKind, Target>(
  ctx: Ctx,
  rule: Pick<PurposeRule<Kind, never, Target, never>, 'purposeOf' | 'due' | 'onNamed'>,
  request: SigningRequest<Target>,
): Promise<Target> {
  const { signed, actor } = request
  const { facilitator, proof, payer } = signed
  const { network } = facilitator
  const known = await findSigned(ctx.db, { network, proof })
  if (known !== undefined) return ctx.transact((tx) => request.again(tx, known))
  const facts = await verify(ctx, request, rule.due(await request.target()))

  let bytes: string | undefined
  const paid = await ctx.transact(async (tx) => {
    // A transaction that is tried again stores nothing of the try before.
    bytes = undefined
    const { covers, underWay } = await lockBalance(tx, signed, facts)
    const before = await findSigned(tx, { network, proof })
    if (before !== undefined) return request.again(tx, before)
    const locked = await request.lock(tx)
    const due = rule.due(locked)
    requirePrice(signed, due)
    if (!covers(due)) throw tooLittle(fundsMessage({ network, payer, due }, facts.balance, underWay))
    const purpose = rule.purposeOf(locked)
    let named = locked
    const settlement = await storeSubmission(ctx, tx, signed, facts.terms, {
      purpose,
      due,
      async save(reference) {
        const naming = { network, reference, actor, payers: [payer], transfer: undefined, depth: null }
        named = (await rule.onNamed?.(ctx, tx, locked, { ...naming, isSigned: true }, undefined)) ?? locked
      },
    })
    bytes = settlement.bytes
    return named
  })
  if (bytes !== undefined) await sendSettlement(facilitator, { bytes })
  return paid
}

/** Rejects a payment that cannot take effect or was not signed for this, before anything is stored. */
async function verify<Target>(
  ctx: Ctx,
  { signed, checkPayer }: SigningRequest<Target>,
  due: Usdc,
): Promise<SubmissionFacts> {
  const { facilitator, accepted, payment, payer } = signed
  const { network } = facilitator
  requirePrice(signed, due)
  const chain = ctx.chains[network]
  assert(chain !== undefined, `${network} is read where its payments are submitted`)
  const wanted = requirementOn(chain, facilitator, due)
  const field = mismatchIn(accepted, wanted)
  if (field !== undefined)
    throw paymentRejected(`accepted.${field} must be ${wanted[field]}`, [
      { path: `signed_payment.accepted.${field}`, message: `must be ${wanted[field]}` },
    ])
  if (await hasTooManyFailed(ctx.db, { network, payer }, ctx.clock.now())) throw tooManyFailed(payer)
  const reason = await facilitator.rejectionReason(payment, due)
  const isPoor = reason !== undefined && isInsufficient(reason)
  if (reason !== undefined && !isPoor)
    throw reason.endsWith(USED) ? authorizationUsed() : paymentRejected(reason)
  await checkPayer(payer)
  if (isPoor) throw tooLittle(await insufficientFunds(ctx, { network, payer, due }))
  return readSubmissionFacts(ctx, signed)
}

/** The end of what x402 calls it. */
const USED = 'nonce_already_used'

function requirePrice({ accepted }: ReadPayment, due: Usdc): void {
  const { amount } = accepted
  if (amount === due.toString()) return
  const isAmount = typeof amount === 'string' && /^\d{1,18}$/.test(amount)
  throw priceChanged(due, isAmount ? `${formatUsd(usdc(BigInt(amount)))} USDC` : 'another amount')
}
