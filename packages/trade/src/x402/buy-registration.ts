import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { checkRegistration } from '@market/identity/agents'
import type { Usdc } from '@market/kernel/money'
import { Refusal } from '@market/kernel/refusal'
import type { HireAnswer } from './answers.ts'
import { buySent } from './buy-sent.ts'
import { buySigned } from './buy-signed.ts'
import type { Carrier } from './carrier.ts'
import type { Wanted } from './enrol-paid.ts'
import type { BuyContext, Offer } from './offer.ts'
import { openNetworks } from './open-networks.ts'
import { type Quote, REGISTRATION, waysOn } from './quote.ts'

interface WantedRegistration {
  readonly wanted: Wanted
  readonly fee: Usdc
  readonly carrier: Carrier | undefined
  readonly requestKey: string | undefined
  readonly claim: string | undefined
}

type Ctx = BuyContext & Needs<'outbound'>

/** Registers an agent for whoever pays with the request; the wallet that paid is its owner. */
export async function buyRegistration(ctx: Ctx, asked: WantedRegistration): Promise<HireAnswer> {
  const { wanted, carrier } = asked
  const quote = async (): Promise<Quote> => {
    await checkRegistration(ctx, wanted)
    return quoteFor(ctx, asked.fee)
  }
  if (carrier === undefined) return { kind: 'quote', quote: await quote() }
  const paymentId = carrier.kind === 'signed' ? carrier.paymentId : undefined
  const offer: Offer = {
    purchase: {
      subject: REGISTRATION,
      request: { ...wanted },
      fingerprint: createHash('sha256')
        .update(JSON.stringify([REGISTRATION, ...Object.entries(wanted).toSorted()]))
        .digest(),
      requestKey: asked.requestKey ?? paymentId ?? null,
    },
    quote,
  }
  return carrier.kind === 'signed'
    ? buySigned(ctx, offer, carrier)
    : buySent(ctx, offer, carrier, { claim: asked.claim })
}

function quoteFor(ctx: Pick<Ctx, 'chains' | 'facilitators'>, due: Usdc): Quote {
  const ways = waysOn(openNetworks(ctx), ctx.chains, ctx.facilitators)
  if (ways.length === 0)
    throw new Refusal('invalid', 'No payments are taken here at the moment; register without paying', {
      code: 'not_payable',
    })
  const path = '/api/agents/register?pay=x402'
  return { subject: REGISTRATION, description: 'Registration of an agent', path, due, ways }
}
