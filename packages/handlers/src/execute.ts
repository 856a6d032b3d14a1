import { isWrite } from '@market/contract/define'
import { acquireLease, releaseLease, storeResponse } from '@market/core/idempotency'
import { answerLimited } from './answer-limited.ts'
import { answerOf } from './answer-of.ts'
import type { AppServices } from './app-services.ts'
import { authorize } from './authorize.ts'
import type { Answer, Call } from './call.ts'
import type { Caller } from './caller.ts'
import { asApiError, failureOf } from './failure.ts'
import type { AnyHandler, HandlerContext } from './handler.ts'
import { handlers } from './handlers.ts'
import { identify } from './identify.ts'
import { parse } from './parse.ts'
import { leaseKey } from './request-key.ts'
import { requestTransaction } from './request-transaction.ts'

export type Execute = (call: Call) => Promise<Answer>

/** One way for every edge: limit, credential, permission, input, then once for an Idempotency-Key. */
export function executor(app: AppServices): Execute {
  return (call) =>
    answerLimited(app, call.operation, call, async () => {
      if (call.rejected !== undefined) throw call.rejected
      const caller = await identify(app, app.operators, call)
      authorize(call.operation, caller.actor)
      return answerOnce(app, call, caller, parse(call.operation, call.input))
    })
}

async function answerOnce(
  app: AppServices,
  call: Call,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<Answer> {
  const key = leaseKey(call, caller.actor)
  if (key === undefined) return run(app, call, caller, input)
  const taken = await acquireLease(app, key)
  if ('replay' in taken) return { ...taken.replay, headers: { 'Idempotent-Replayed': 'true' } }
  const { lease } = taken
  try {
    return await run(app, call, caller, input, lease)
  } catch (error) {
    const kept = storedError(error, call.requestId)
    if (kept === undefined) await releaseLease(app, lease).catch(() => {})
    else await storeResponse(app, app.db, lease, kept)
    throw error
  }
}

/** A "no" that another try of the same request would meet again is an answer like any other; the rest is not kept. */
const KEPT = new Set(['payment_required', 'forbidden', 'not_found', 'conflict'])

function storedError(error: unknown, requestId: string): { status: number; body: unknown } | undefined {
  const apiError = asApiError(error)
  if (apiError === undefined || !KEPT.has(apiError.kind)) return undefined
  const { status, body } = failureOf(apiError, requestId)
  return { status, body }
}

async function run(
  app: AppServices,
  call: Call,
  caller: Caller,
  input: Record<string, unknown>,
  lease?: Parameters<typeof storeResponse>[2],
): Promise<Answer> {
  const handler: AnyHandler = handlers[call.operation.id as keyof typeof handlers]
  const transaction = requestTransaction(app, call, caller, lease, (result) =>
    answerOf(call.operation, handler.present(result as never, ctx)),
  )
  const ctx: HandlerContext = {
    ...app,
    actor: caller.actor,
    caller,
    requestId: call.requestId,
    transact: transaction.transact,
  }
  const result = await handler.run(ctx, input as never)
  if (isWrite(call.operation)) return transaction.answerFor(result)
  return answerOf(call.operation, handler.present(result as never, ctx))
}
