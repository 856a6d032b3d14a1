import type { Needs } from '@market/core/context'
import type {
  Facilitator,
  PaymentProof,
  SettlementTerms,
  SignedPayment,
} from '@market/core/ports/facilitator'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { EVER } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import type { IntentPurpose } from '../intents/intent.ts'
import { findSigned, openIntent } from '../intents/store.ts'
import { lockUnderWay } from './payer-store.ts'
import { signSettlement } from './send-settlement.ts'

/** A payment that a buyer signed, and what submits it. */
export interface Signed extends Pick<PaymentProof, 'proof'> {
  readonly facilitator: Facilitator
  readonly payment: SignedPayment
  readonly payer: string
}

/** What the chain says before the transaction in which a payment is signed, because nodes can be slow. */
export interface SubmissionFacts {
  readonly terms: SettlementTerms
  /** Undefined where this process does not read the chain. */
  readonly balance: Usdc | undefined
}

export async function readSubmissionFacts(
  { chains }: Needs<'chains'>,
  { facilitator, payer }: Pick<Signed, 'facilitator' | 'payer'>,
): Promise<SubmissionFacts> {
  const terms = await facilitator.readTerms()
  const balance = await chains[facilitator.network]?.balanceOf(payer)
  return { terms, balance: balance?.latest }
}

/** Locks what the wallet has under way. Payments of one wallet are serialized, because each failing one costs gas. */
export async function lockBalance(
  tx: Tx,
  { facilitator: { network }, payer }: Pick<Signed, 'facilitator' | 'payer'>,
  { balance }: SubmissionFacts,
): Promise<{ readonly underWay: Usdc; readonly covers: (due: Usdc) => boolean }> {
  const underWay = await lockUnderWay(tx, { network, payer })
  return { underWay, covers: (due) => balance === undefined || balance >= underWay + due }
}

/**
 * Signs the transaction that executes a payment. Its nonce, its bytes and the intent are stored in the caller's transaction,
 * so that no nonce is without its bytes. `lockBalance` was called before, so nothing else uses the payment meanwhile.
 */
export async function storeSubmission(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { facilitator, payment, proof, payer }: Signed,
  terms: SettlementTerms,
  wanted: {
    readonly purpose: IntentPurpose
    readonly due: Usdc
    /** Saves what is paid for. The reference is the transaction that was signed. */
    readonly save: (reference: string) => Promise<unknown>
  },
): Promise<{ readonly reference: string; readonly bytes: string }> {
  const { network } = facilitator
  if ((await findSigned(tx, { network, proof })) !== undefined) throw signedPaymentUsed()
  const settlement = await signSettlement(tx, facilitator, payment, terms)
  const { reference, bytes } = settlement
  await wanted.save(reference)
  await openIntent(ctx, tx, {
    ...{ purpose: wanted.purpose, network, reference, payers: [payer], due: wanted.due },
    // The signature binds it, and a chain that stood still has old block times.
    notBefore: EVER,
    submission: { payment, proof, settlement },
  })
  return { reference, bytes }
}

export const signedPaymentUsed = (): ApiError =>
  new ApiError(
    'conflict',
    'This signed payment was already used for something else, or its wallet cancelled it. You were not charged for this. Sign a new payment.',
    { code: 'payment_already_used' },
  )
