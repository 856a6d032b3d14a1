import type { Operation, Payment } from '@market/contract/define'
import { fieldsAt } from '@market/contract/describe-limits'
import { rejectWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { PaymentCredential, PurchaseResult } from '@market/trade/x402'
import type { AppServices } from './app-services.ts'
import { REST_BUDGET } from './byte-budget.ts'
import type { ApiResponse, Call, CallPayment } from './call.ts'
import type { Caller } from './caller.ts'
import { withLookupBudget, withPaymentBudget, withSignatureBudget } from './chain-budget.ts'
import { recordProgramChange } from './connected-program.ts'
import { type Buyer, identifyBuyer } from './identify-buyer.ts'
import { parseAs } from './parse.ts'
import { purchaseKey } from './request-key.ts'
import { stopsOf } from './request-transaction.ts'
import { readPaymentCredential } from './x402/payment-credential.ts'
import { presentPendingPurchase, presentQuote, purchaseHeaders } from './x402/present-purchase.ts'
import { type PurchaseContext, type PurchaseHandler, purchaseHandlerOf } from './x402/purchase-handlers.ts'

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
  idempotencyKey: string | undefined,
): Promise<ApiResponse> {
  const { operation, payment: given } = call
  const { payment } = operation
  assert(payment !== undefined && given !== undefined, `${operation.id} has a payment step`)
  const handler = purchaseHandlerOf(operation.id)
  const fields = { ...knownFields(payment, given.fields), ...call.input }
  const input = parseAs(payment.input, fields) as never
  const credential = readPaymentCredential(given)
  const charged = withBudgets(app, call, credential)
  const { caller, payer } = await buyerOf(app, { ...call, input: fields }, handler, input, credential)
  const requestKey = purchaseKey(idempotencyKey, caller.actor)
  const ctx = contextOf(charged, call, caller)
  if (credential === undefined)
    return presentQuote(ctx, payment.version, { kind: 'quote', quote: await handler.quote(ctx, input) })
  call.onCaller?.(caller.actor)
  const evidence = { credential, requestKey, claim: given.claim, wallet: payer }
  return present(ctx, operation, payment, await handler.buy(ctx, input, evidence))
}

/** A registration belongs to the payer, so other credentials do not count there. */
async function buyerOf(
  app: AppServices,
  call: Call,
  { payerPurpose }: PurchaseHandler,
  input: never,
  credential: PaymentCredential | undefined,
): Promise<Buyer> {
  if (payerPurpose === undefined) return { caller: ANONYMOUS, payer: call.credentials.wallet }
  const isNamed = credential?.kind === 'transaction'
  return identifyBuyer(app, call, isNamed ? payerPurpose(input, credential) : undefined)
}

/** Proxies add parameters to queries, so unknown ones are ignored. */
function knownFields({ input }: Payment, query: CallPayment['fields']): CallPayment['fields'] {
  const names = fieldsAt(input, []).filter((name) => Object.hasOwn(query, name))
  return Object.fromEntries(names.map((name) => [name, query[name]]))
}

function withBudgets(app: AppServices, call: Call, credential: PaymentCredential | undefined): AppServices {
  const charged = withSignatureBudget(app, call)
  switch (credential?.kind) {
    case 'transaction':
      return withLookupBudget(charged, call)
    case 'signed':
      return withPaymentBudget(charged, call)
    case undefined:
      return charged
  }
}

const ANONYMOUS: Caller = { actor: { kind: 'anonymous' } }

/** Each transaction of a purchase checks the switches first. */
function contextOf(
  app: AppServices,
  { operation, input, requestId, address, budget = REST_BUDGET }: Call,
  caller: Caller,
): PurchaseContext {
  return {
    ...app,
    actor: caller.actor,
    caller,
    requestId,
    budget,
    lookups: app.paymentLookups(address),
    transact: (work) =>
      transact(app.db, async (tx) => {
        await rejectWhileStopped(tx, stopsOf(operation))
        await recordProgramChange(app, tx, { operation, input }, caller)
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
      return presentPendingPurchase(ctx, result)
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
