import type { Operation, Payment } from '@market/contract/define'
import { nameOf } from '@market/core/context'
import { rejectWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { PaymentCredential, PurchaseResult } from '@market/trade/x402'
import type { AppServices } from './app-services.ts'
import { authorize } from './authorize.ts'
import type { ApiResponse, Call, Credentials, WalletFields } from './call.ts'
import type { Caller } from './caller.ts'
import { withLookupBudget, withPaymentBudget, withSignatureBudget } from './chain-budget.ts'
import { asApiError } from './failure.ts'
import { identify } from './identify.ts'
import { parseAs } from './parse.ts'
import { stopsOf } from './request-transaction.ts'
import { readPaymentCredential } from './x402/payment-credential.ts'
import { presentPending, presentQuote, purchaseHeaders } from './x402/present-purchase.ts'
import { type PurchaseContext, purchaseHandlerOf } from './x402/purchase-handlers.ts'

/** Whether the request buys something, or asks for the price of it, by x402. */
export function isPurchase({ operation, input, payment }: Call): boolean {
  if (operation.payment === undefined || payment === undefined) return false
  const hasPayment = payment.signature !== undefined || payment.payment !== undefined
  switch (operation.payment.when) {
    case 'always':
      return true
    case 'without_credentials':
      return hasPayment
    case 'requested':
      return hasPayment || payment.fields['pay'] === 'x402' || input['pay_to_register'] === true
  }
}

/** Whether a request without credentials can be paid instead. */
export const canPayInstead = ({ operation }: Call): boolean =>
  operation.payment?.when === 'without_credentials'

/**
 * The payment step of the pipeline. Without a payment the response is 402 with the price. With one, the payment is
 * claimed in a first transaction, settled with none open, and what it buys is published in a second.
 */
export async function purchase(
  app: AppServices,
  call: Call,
  requestKey: string | undefined,
): Promise<ApiResponse> {
  const { operation, payment: given } = call
  const { payment } = operation
  assert(payment !== undefined && given !== undefined, `${operation.id} has a payment step`)
  const handler = purchaseHandlerOf(operation.id)
  const input = parseAs(payment.input, { ...given.fields, ...call.input }) as never
  const credential = readPaymentCredential(given)
  if (credential === undefined) {
    const ctx = contextOf(app, call, ANONYMOUS)
    return presentQuote(ctx, payment.version, { kind: 'quote', quote: await handler.quote(ctx, input) })
  }
  const charged = withBudgets(app, call, credential)
  const { caller, payer } = await identifyBuyer(charged, call)
  call.onCaller?.(nameOf(caller.actor))
  const ctx = contextOf(charged, call, caller)
  const evidence = { credential, requestKey, claim: given.claim, wallet: payer }
  return present(ctx, operation, payment, await handler.buy(ctx, input, evidence))
}

const withBudgets = (app: AppServices, call: Call, { kind }: PaymentCredential): AppServices =>
  kind === 'transaction'
    ? withSignatureBudget(withLookupBudget(app, call), call)
    : withPaymentBudget(withSignatureBudget(app, call), call)

const ANONYMOUS: Caller = { actor: { kind: 'anonymous' } }

/**
 * Who the purchase is for, and the signature that is to prove the payer. A wallet signs either for the order, as without
 * a payment, or for the payment; routes that are for everybody only take the second.
 */
async function identifyBuyer(
  app: AppServices,
  call: Call,
): Promise<{ readonly caller: Caller; readonly payer: WalletFields | undefined }> {
  const { operation, credentials } = call
  const { wallet, ...others } = credentials
  if (operation.callers.includes('anonymous')) return { caller: ANONYMOUS, payer: wallet }
  const authorized = async (given: Credentials) => {
    const caller = await identify(app, app.operators, { ...call, credentials: given })
    if (caller.actor.kind !== 'anonymous') authorize(operation, caller.actor)
    return caller
  }
  try {
    return { caller: await authorized(credentials), payer: undefined }
  } catch (error) {
    if (wallet === undefined || asApiError(error)?.extra.code !== 'bad_signature') throw error
    return { caller: await authorized(others), payer: wallet }
  }
}

/** Each transaction of a purchase checks the switches first. */
function contextOf(
  app: AppServices,
  { operation, requestId, address }: Call,
  caller: Caller,
): PurchaseContext {
  return {
    ...app,
    actor: caller.actor,
    caller,
    requestId,
    lookups: app.paymentLookups(address),
    transact: (work) =>
      transact(app.db, async (tx) => {
        await rejectWhileStopped(tx, stopsOf(operation))
        return work(tx)
      }),
  }
}

async function present(
  ctx: PurchaseContext,
  operation: Operation,
  payment: Payment,
  result: PurchaseResult,
): Promise<ApiResponse> {
  switch (result.kind) {
    case 'quote':
      return presentQuote(ctx, payment.version, result)
    case 'pending':
      return presentPending(ctx, result)
    case 'done': {
      const { status, data, isReplay = false } = await purchaseHandlerOf(operation.id).present(ctx, result)
      const schema = (isReplay ? payment.replayOutput : undefined) ?? payment.output
      const parsed = schema.parse(data)
      return {
        status,
        body: operation.isBare === true ? parsed : { success: true, data: parsed },
        headers: purchaseHeaders(ctx, result),
      }
    }
  }
}
