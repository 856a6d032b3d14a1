import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { checkRegistration } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Usdc } from '@market/kernel/money'
import { buySent } from './buy-sent.ts'
import { buySigned } from './buy-signed.ts'
import type { PaidAgent } from './paid-registration.ts'
import type {
  Offer,
  PaymentCredential,
  PurchaseContext,
  PurchaseResult,
  TransferEvidence,
} from './purchase.ts'
import { openNetworks, type Quote, REGISTRATION, waysOn } from './quote.ts'

interface RegistrationPurchase {
  readonly wanted: PaidAgent
  readonly fee: Usdc
  readonly credential: PaymentCredential
  readonly requestKey: string | undefined
  readonly claim: string | undefined
  readonly signer: TransferEvidence['signer']
  /** The key of `owner_wallet`. The wallet that pays becomes the owner, so it must be that one. */
  readonly ownerWallet: string | undefined
}

type Ctx = PurchaseContext & Needs<'outbound'>

/** The price of a registration; fails where the agent could not be registered. */
export async function quoteRegistration(
  ctx: Ctx,
  { wanted, fee }: Pick<RegistrationPurchase, 'wanted' | 'fee'>,
): Promise<Quote> {
  await checkRegistration(ctx, wanted)
  return quoteFor(ctx, fee)
}

/** Registers an agent. The wallet that pays becomes its owner. */
export async function buyRegistration(ctx: Ctx, asked: RegistrationPurchase): Promise<PurchaseResult> {
  const { wanted, credential } = asked
  const quote = () => quoteRegistration(ctx, asked)
  const paymentId = credential.kind === 'signed' ? credential.paymentId : undefined
  const offer: Offer = {
    wanted: {
      subject: REGISTRATION,
      request: { ...wanted },
      fingerprint: createHash('sha256')
        .update(JSON.stringify([REGISTRATION, ...Object.entries(wanted).toSorted()]))
        .digest(),
      requestKey: asked.requestKey ?? paymentId ?? null,
    },
    quote,
    recentDues: async () => [],
    payer: asked.ownerWallet,
  }
  return credential.kind === 'signed'
    ? buySigned(ctx, offer, credential)
    : buySent(ctx, offer, credential, asked)
}

function quoteFor(ctx: Pick<Ctx, 'chains' | 'facilitators'>, due: Usdc): Quote {
  const ways = waysOn(openNetworks(ctx), ctx.chains, ctx.facilitators)
  if (ways.length === 0)
    throw new ApiError('invalid', 'No network accepts payments now. Register without a payment.', {
      code: 'not_payable',
    })
  const path = '/api/agents/register?pay=x402'
  return {
    subject: REGISTRATION,
    description: 'Registration of an agent',
    path,
    due,
    ways,
    payoutWaitMs: null,
  }
}
