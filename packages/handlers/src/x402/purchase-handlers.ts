import type { WalletFields } from '@market/contract/client'
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
  type NamedPayment,
  type OrderExtras,
  type PaymentCredential,
  type PurchaseResult,
  payerPurposeOf,
  type Quote,
  quoteRegistration,
  signInstructions,
} from '@market/trade/x402'
import type { z } from 'zod'
import { presentRegistered } from '../agents.ts'
import type { AppServices } from '../app-services.ts'
import type { HandlerContext } from '../handler.ts'
import { loadActor } from '../load-actor.ts'
import { usedBy, withUploads } from '../order-files.ts'
import { signOf } from '../present-order.ts'
import { parseWalletFields } from '../verify-wallet.ts'
import type { Done } from './present-purchase.ts'

/** What came with the request to prove the payment. */
export interface PaymentEvidence {
  readonly credential: PaymentCredential
  readonly requestKey: string | undefined
  readonly claim: string | undefined
  readonly wallet: WalletFields | undefined
}

export type PurchaseContext = HandlerContext &
  Pick<AppServices, 'registrationFee' | 'shortWaitMax' | 'quotes'> & {
    readonly lookups: ReturnType<AppServices['paymentLookups']>
  }

/** How one operation quotes, sells and presents what is bought with the request. */
export interface PurchaseHandler {
  /** What a caller signs who made the transfer. Absent where the payer is the only caller. */
  readonly payerPurpose?: (input: never, transfer: NamedPayment) => string
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
    payerPurpose: (input: ServiceInput, transfer) => payerPurposeOf(requestIn(input), transfer),
    quote: (ctx, { service_id }: ServiceInput) => {
      const listingId = service_id as ListingId
      const find = async () => (await findPayable(ctx, listingId, ctx.shortWaitMax)).quote
      return ctx.quotes(listingId, find)
    },
    buy: async (ctx, input: ServiceInput, { wallet, ...evidence }) => {
      const references = [...(input.reference_urls ?? []), ...(input.reference_images ?? [])]
      const use = { usedFor: 'reference', isPrivate: input.private ?? false } as const
      const files = await withUploads(ctx, references, (made) =>
        // Undefined when another request claimed the payment before.
        made === undefined ? undefined : usedBy(use)(made),
      )
      return hireService(files.ctx, {
        ...requestIn(input),
        principal: ctx.actor.kind === 'anonymous' ? undefined : await loadActor(ctx),
        extras: extrasIn(input, files.urlOf),
        signer: signerOf(ctx, wallet, evidence.credential),
        shortWaitMax: ctx.shortWaitMax,
        ...evidence,
      })
    },
    present: async (ctx, done) => {
      const orderId = done.purchase.resultId as OrderId
      const order = await findOrder(ctx.db, orderId)
      const token = isBuyers(ctx, done) ? `?t=${accessTokenOf(ctx, orderId)}` : ''
      const url = `${ctx.baseUrl}/api/x402/orders/${orderId}${token}`
      const sign = order.contest === null ? undefined : signOf(order, ctx)
      return {
        status,
        data: { order_id: orderId, status: order.status, [urlField]: url, ...(sign && { sign }) },
      }
    },
  }) satisfies PurchaseHandler

const requestIn = (input: ServiceInput) => ({
  listingId: input.service_id as ListingId,
  brief: input.brief,
  requirementAnswers: answersIn(input),
})

/** For this long a repeated purchase returns its secrets again: the first response can be 202 without them, or be lost. */
const REPLAY_MS = 24 * HOUR
const isRecent = ({ clock }: Pick<AppServices, 'clock'>, { createdAt }: Done['purchase']): boolean =>
  clock.now().getTime() - createdAt.getTime() < REPLAY_MS

/** A transaction hash is public, so a replay returns the access token only to whoever proves to be the buyer. */
function isBuyers(ctx: Pick<AppServices, 'clock'>, { purchase, isReplay, isProven }: Done): boolean {
  // fix: replay-by-buyer
  return !isReplay || isProven || (purchase.kind !== 'transaction' && isRecent(ctx, purchase))
}

/** `requirements` and `requirement_answers` are two names of one field; both at once would be ambiguous. */
function answersIn({ requirements, requirement_answers: answers = {} }: ServiceInput) {
  if (Object.keys(requirements).length === 0) return answers
  if (Object.keys(answers).length === 0) return requirements
  throw new ApiError('invalid', 'Send requirement_answers or requirements, not both', {
    details: [{ path: 'requirements', message: 'is another name of requirement_answers' }],
  })
}

/** Only `POST /api/orders` has these fields. */
const extrasIn = (input: ServiceInput, urlOf: (reference: string) => string): OrderExtras | undefined =>
  input.reference_urls && {
    referenceUrls: input.reference_urls.map(urlOf),
    referenceImages: (input.reference_images ?? []).map(urlOf),
    isPrivate: input.private ?? false,
  }

/**
 * Verifies the signature of the wallet that paid. It proves who made a transfer, whose hash anybody can read. A payment
 * that we submit is signed by its payer already.
 */
function signerOf(
  ctx: Pick<AppServices, 'signatures' | 'clock'>,
  fields: WalletFields | undefined,
  credential: PaymentCredential,
): ((purpose: string) => Promise<string>) | undefined {
  if (fields === undefined || credential.kind !== 'transaction') return undefined
  const { network } = credential
  return async (purpose) => {
    const { wallet, signature, signedAtMs } = parseWalletFields(ctx, fields)
    await ctx.signatures.verify({ wallet, signature, signedAtMs, network }, purpose, ctx.clock.wallTime())
    if ((wallet.chain === 'solana') !== (network === 'solana-mainnet'))
      throw new ApiError('invalid', `A ${wallet.chain} wallet cannot have paid on ${network}`, {
        code: 'wrong_payer',
      })
    return wallet.key
  }
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

/** The signature of an ordinary registration of this name counts too: clients may send it beside the payment. */
const registrationSigner = (signer: ReturnType<typeof signerOf>, name: string): ReturnType<typeof signerOf> =>
  signer && ((purpose) => signer(purpose).catch(() => signer(`agents.register:${name.normalize('NFC')}`)))

const registration: PurchaseHandler = {
  quote: (ctx, input: RegistrationInput) =>
    quoteRegistration(ctx, { wanted: registrationIn(input), fee: ctx.registrationFee }),
  buy: (ctx, input: RegistrationInput, { wallet, ...evidence }) =>
    buyRegistration(ctx, {
      wanted: registrationIn(input),
      fee: ctx.registrationFee,
      signer: registrationSigner(signerOf(ctx, wallet, evidence.credential), input.name),
      // fix: owner-wallet-of-payer
      ownerWallet: input.owner_wallet && ctx.signatures.parseWallet(input.owner_wallet)?.key,
      ...evidence,
    }),
  present: async (ctx, { purchase, isReplay, isProven }) => {
    if (purchase.resultId.startsWith('refund:'))
      throw new ApiError(
        'conflict',
        'The payment of this registration is refunded to its payer: another agent registered the name before it arrived, or the payment was contested.',
        { code: 'duplicate_agent' },
      )
    const id = purchase.resultId as AgentId
    const { slug, apiKeyReplacedAt } = await findAgentById(ctx.db, id)
    // A transaction hash is public, so a replay returns the API key only with the Idempotency-Key or a signature. It
    // never returns a key that was issued later.
    // fix: no-later-key
    if (!isReplay || (isProven && isRecent(ctx, purchase) && apiKeyReplacedAt === null))
      return { status: 201, data: presentRegistered(await openSecrets(ctx, id)).data }
    const note =
      'The API key is returned once. The owner’s wallet reads it again with POST /api/agents/recover.'
    const sign = purchase.binding === 'none' ? signInstructions(ctx, purchase, purchase) : undefined
    return { status: 200, data: { agent_id: id, slug, note, ...(sign && { sign }) }, isReplay: true }
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
