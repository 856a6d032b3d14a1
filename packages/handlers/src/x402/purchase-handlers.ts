import { createHash } from 'node:crypto'
import type { OperationId } from '@market/contract/operations'
import type { registerAgent } from '@market/contract/operations/agents'
import type { PaidOrderInput, PurchaseInput } from '@market/contract/schemas/x402'
import { findAgentById, openSecrets } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { HOUR } from '@market/kernel/clock'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import { findOrder } from '@market/trade/orders'
import {
  accessTokenOf,
  buyRegistration,
  findPayable,
  hireService,
  type OrderExtras,
  type PaymentCredential,
  type PurchaseResult,
  type Quote,
  quoteRegistration,
} from '@market/trade/x402'
import type { z } from 'zod'
import { presentRegistered } from '../agents.ts'
import type { AppServices } from '../app-services.ts'
import type { WalletFields } from '../call.ts'
import type { HandlerContext } from '../handler.ts'
import { parseWalletFields } from '../verify-wallet.ts'
import type { Done } from './present-purchase.ts'

/** What came with the request to prove the payment. */
export interface PaymentEvidence {
  readonly credential: PaymentCredential
  readonly requestKey: string | undefined
  readonly claim: string | undefined
  readonly wallet: WalletFields | undefined
}

export type PurchaseContext = HandlerContext & Pick<AppServices, 'registrationFee' | 'quotes'>

/** How one operation quotes, sells and presents what is bought with the request. */
export interface PurchaseHandler {
  readonly quote: (ctx: PurchaseContext, input: never) => Promise<Quote>
  readonly buy: (ctx: PurchaseContext, input: never, evidence: PaymentEvidence) => Promise<PurchaseResult>
  readonly present: (
    ctx: PurchaseContext,
    done: Done,
  ) => Promise<{ readonly status: 200 | 201; readonly data: unknown; readonly isReplay?: true }>
}

type ServiceInput = z.output<typeof PurchaseInput> & Partial<z.output<typeof PaidOrderInput>>

const handlerOfService = (status: 200 | 201, urlField: 'status_url' | 'result_url') =>
  ({
    quote: (ctx, { service_id }: ServiceInput) => {
      const listingId = service_id as ListingId
      return ctx.quotes(listingId, async () => (await findPayable(ctx, listingId)).quote)
    },
    buy: async (ctx, input: ServiceInput, { wallet, ...evidence }) => {
      const listingId = input.service_id as ListingId
      const { brief } = input
      return hireService(ctx, {
        listingId,
        brief,
        requirementAnswers: answersIn(input),
        extras: extrasIn(input),
        payer: await signerOf(ctx, wallet, evidence.credential, { listingId, brief }),
        ...evidence,
      })
    },
    present: async (ctx, { purchase, isReplay }) => {
      const orderId = purchase.resultId as OrderId
      const order = await findOrder(ctx.db, orderId)
      const age = ctx.clock.now().getTime() - purchase.createdAt.getTime()
      const hasToken = !isReplay || purchase.requestKey !== null || age < TOKEN_REPLAYED_MS
      const token = hasToken ? `?t=${accessTokenOf(ctx, orderId)}` : ''
      const url = `${ctx.baseUrl}/api/x402/orders/${orderId}${token}`
      return { status, data: { order_id: orderId, status: order.status, [urlField]: url } }
    },
  }) satisfies PurchaseHandler

/** After 24 h a replay without an Idempotency-Key no longer returns the access token. */
const TOKEN_REPLAYED_MS = 24 * HOUR

/** `requirements` and `requirement_answers` are two names of one field; both at once would be ambiguous. */
function answersIn({ requirements, requirement_answers: answers = {} }: ServiceInput) {
  if (Object.keys(requirements).length === 0) return answers
  if (Object.keys(answers).length === 0) return requirements
  throw new ApiError('invalid', 'Send requirement_answers or requirements, not both', {
    details: [{ path: 'requirements', message: 'is another name of requirement_answers' }],
  })
}

/** Only `POST /api/orders` has these fields. */
const extrasIn = (input: ServiceInput): OrderExtras | undefined =>
  input.reference_urls && {
    referenceUrls: input.reference_urls,
    referenceImages: input.reference_images ?? [],
    isPrivate: input.private ?? false,
  }

/**
 * The key of the wallet that signed for this payment and purchase. It proves who made a transfer, whose hash anybody can
 * read. A payment that we submit is signed by its payer already.
 */
async function signerOf(
  ctx: Pick<AppServices, 'signatures' | 'clock'>,
  fields: WalletFields | undefined,
  credential: PaymentCredential,
  { listingId, brief = '' }: { readonly listingId: string; readonly brief: string | undefined },
): Promise<string | undefined> {
  if (fields === undefined || credential.kind !== 'transaction') return undefined
  const { network, reference } = credential
  const { wallet, signature, signedAtMs } = parseWalletFields(ctx, fields)
  const briefHash = createHash('sha256').update(brief.normalize('NFC').trim()).digest('hex')
  const purpose = `x402.pay:${network}:${reference}:${listingId}:${briefHash}`
  await ctx.signatures.verify({ wallet, signature, signedAtMs, network }, purpose, ctx.clock.now())
  if ((wallet.chain === 'solana') !== (network === 'solana-mainnet'))
    throw new ApiError('invalid', `A ${wallet.chain} wallet cannot have paid on ${network}`, {
      code: 'wrong_payer',
    })
  return wallet.key
}

type RegistrationInput = z.output<typeof registerAgent.input>

const registrationIn = (input: RegistrationInput) => ({
  name: input.name,
  description: input.description,
  capabilities: input.capabilities,
  aiModels: input.ai_models,
  endpointUrl: input.endpoint_url,
  avatarUrl: input.avatar_url,
})

const registration: PurchaseHandler = {
  quote: (ctx, input: RegistrationInput) =>
    quoteRegistration(ctx, { wanted: registrationIn(input), fee: ctx.registrationFee }),
  buy: (ctx, input: RegistrationInput, { wallet: _wallet, ...evidence }) =>
    buyRegistration(ctx, { wanted: registrationIn(input), fee: ctx.registrationFee, ...evidence }),
  present: async (ctx, { purchase, isReplay }) => {
    if (purchase.resultId.startsWith('refund:'))
      throw new ApiError(
        'conflict',
        'The name was registered by another agent before the payment arrived. The payment is refunded to its payer.',
        { code: 'duplicate_agent' },
      )
    const id = purchase.resultId as AgentId
    if (!isReplay || purchase.requestKey !== null)
      return { status: 201, data: presentRegistered(await openSecrets(ctx, id)).data }
    // A transaction hash is public, so a replay without an Idempotency-Key does not return the API key.
    const { slug } = await findAgentById(ctx.db, id)
    const note =
      'The API key is returned once. The owner’s wallet reads it again with POST /api/agents/recover.'
    return { status: 200, data: { agent_id: id, slug, note }, isReplay: true }
  },
}

/** Operations whose every request is a purchase. */
export type SoldOnly = 'hireService' | 'payService' | 'payServiceV1'

/** Every operation that has `payment` in the contract. */
const HANDLERS = {
  hireService: handlerOfService(200, 'result_url'),
  payService: handlerOfService(200, 'status_url'),
  payServiceV1: handlerOfService(200, 'status_url'),
  createOrder: handlerOfService(201, 'status_url'),
  registerAgent: registration,
} satisfies Record<SoldOnly, PurchaseHandler> & Partial<Record<OperationId, PurchaseHandler>>

export function purchaseHandlerOf(id: string): PurchaseHandler {
  const handler = HANDLERS[id as keyof typeof HANDLERS] as PurchaseHandler | undefined
  assert(handler !== undefined, `${id} has a purchase handler`)
  return handler
}
