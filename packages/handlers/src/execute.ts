import { isWrite } from '@market/contract/define'
import { finishRequest, releaseRequest, takeRequest } from '@market/core/requests'
import { answerLimited } from './answer-limited.ts'
import { answerOf } from './answer-of.ts'
import { authorize } from './authorize.ts'
import type { Answer, Call } from './call.ts'
import type { Caller } from './caller.ts'
import { asRefusal, failureOf } from './failure.ts'
import type { AnyHandler, HandlerContext } from './handler.ts'
import { handlers } from './handlers.ts'
import type { House } from './house.ts'
import { identify } from './identify.ts'
import { parse } from './parse.ts'
import { leaseKey } from './request-key.ts'
import { requestTransaction } from './request-transaction.ts'

export type Execute = (call: Call) => Promise<Answer>

/** One way for every edge: limit, credential, permission, input, then once for an Idempotency-Key. */
export function executor(house: House): Execute {
  return (call) =>
    answerLimited(house, call.operation, call, async () => {
      if (call.refused !== undefined) throw call.refused
      const caller = await identify(house, house.operators, call)
      authorize(call.operation, caller.actor)
      return answerOnce(house, call, caller, parse(call.operation, call.input))
    })
}

async function answerOnce(
  house: House,
  call: Call,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<Answer> {
  const key = leaseKey(call, caller.actor)
  if (key === undefined) return run(house, call, caller, input)
  const taken = await takeRequest(house, key)
  if ('replay' in taken) return { ...taken.replay, headers: { 'Idempotent-Replayed': 'true' } }
  const { lease } = taken
  try {
    return await run(house, call, caller, input, lease)
  } catch (error) {
    const kept = keptRefusal(error, call.requestId)
    if (kept === undefined) await releaseRequest(house, lease).catch(() => {})
    else await finishRequest(house, house.db, lease, kept)
    throw error
  }
}

/** A "no" that another try of the same request would meet again is an answer like any other; the rest is not kept. */
const KEPT = new Set(['payment_required', 'forbidden', 'not_found', 'conflict'])

function keptRefusal(error: unknown, requestId: string): { status: number; body: unknown } | undefined {
  const refusal = asRefusal(error)
  if (refusal === undefined || !KEPT.has(refusal.kind)) return undefined
  const { status, body } = failureOf(refusal, requestId)
  return { status, body }
}

async function run(
  house: House,
  call: Call,
  caller: Caller,
  input: Record<string, unknown>,
  lease?: Parameters<typeof finishRequest>[2],
): Promise<Answer> {
  const handler: AnyHandler = handlers[call.operation.id as keyof typeof handlers]
  const transaction = requestTransaction(house, call, caller, lease, (result) =>
    answerOf(call.operation, handler.present(result as never, ctx)),
  )
  const ctx: HandlerContext = {
    ...house,
    actor: caller.actor,
    caller,
    requestId: call.requestId,
    transact: transaction.transact,
  }
  const result = await handler.run(ctx, input as never)
  if (isWrite(call.operation)) return transaction.answerFor(result)
  return answerOf(call.operation, handler.present(result as never, ctx))
}
