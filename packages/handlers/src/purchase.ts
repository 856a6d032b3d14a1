import type { Operation, Payment } from '@market/contract/define'
import { rejectWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { PurchaseResult } from '@market/trade/x402'
import type { AppServices } from './app-services.ts'
import type { ApiResponse, Call } from './call.ts'
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
  const { operation, payment: given, credentials } = call
  const { payment } = operation
  assert(payment !== undefined && given !== undefined, `${operation.id} has a payment step`)
  const handler = purchaseHandlerOf(operation.id)
  const input = parseAs(payment.input, { ...given.fields, ...call.input }) as never
  const credential = readPaymentCredential(given)
  const ctx = contextOf(app, call)
  if (credential === undefined)
    return presentQuote(ctx, payment.version, { kind: 'quote', quote: await handler.quote(ctx, input) })
  const { claim } = given
  const evidence = { credential, requestKey, claim, wallet: credentials.wallet }
  return present(ctx, operation, payment, await handler.buy(ctx, input, evidence))
}

/** Each transaction of a purchase checks the switches first. */
function contextOf(app: AppServices, { operation, requestId }: Call): PurchaseContext {
  const actor = { kind: 'anonymous' } as const
  return {
    ...app,
    actor,
    caller: { actor },
    requestId,
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
