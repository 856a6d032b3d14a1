import { isWrite, type Operation } from '@market/contract/define'
import type { Actor } from '@market/core/context'
import { acquireLease, releaseLease, storeResponse } from '@market/core/idempotency'
import { ApiError } from '@market/kernel/api-error'
import { z } from 'zod'
import type { AppServices } from './app-services.ts'
import { authorize, requireRecentLogin } from './authorize.ts'
import { REST_BUDGET } from './byte-budget.ts'
import type { ApiResponse, Call } from './call.ts'
import type { Caller } from './caller.ts'
import { withLookupBudget, withPaymentBudget, withSignatureBudget } from './chain-budget.ts'
import { envelope, openPage } from './envelope.ts'
import { asApiError } from './failure.ts'
import type { AnyHandler, HandlerContext } from './handler.ts'
import { handlers } from './handlers.ts'
import { identify, namesOwnAgent } from './identify.ts'
import { parse } from './parse.ts'
import { canPayInstead, isPurchase, purchase } from './purchase.ts'
import { rateLimited } from './rate-limited.ts'
import { type ReadPart, readInParts } from './read-in-parts.ts'
import { digestOf, readIdempotencyKey, requestKey } from './request-key.ts'
import { isCommitted, requestTransaction, storedError } from './request-transaction.ts'
import { doneEvents, logSecurityEvent, rejectedEvent } from './security-events.ts'
import { isShared, sharedRead, unshared } from './shared-read.ts'

export type Execute = (call: Call) => Promise<ApiResponse>

/**
 * The request pipeline, the same for every operation and transport: rate limit, authenticate, authorize, parse, replay,
 * transaction, present. A purchase has its own step instead, because its payment is the credential.
 */
export function executor(app: AppServices): Execute {
  return (call) =>
    rateLimited(app, call.operation, call, async () => {
      let actor: Actor | undefined
      try {
        if (call.rejected !== undefined) throw call.rejected
        const idempotencyKey = readIdempotencyKey(call)
        if (isPurchase(call)) return await purchase(app, call, idempotencyKey)
        const caller = await identify(withSignatureBudget(app, call), app.operators, call)
        actor = caller.actor
        call.onCaller?.(actor)
        if (actor.kind === 'anonymous' && canPayInstead(call)) {
          const challenge = await challengeFor(app, call)
          if (challenge !== undefined) return challenge
        }
        authorize(call.operation, actor)
        requireRecentLogin(call.operation, caller)
        const charged = isWrite(call.operation) ? withPaymentBudget(withLookupBudget(app, call), call) : app
        const input = parse(call.operation, withOwnAgent(call, actor))
        const respond = () => replayOrRun(charged, call, caller, input)
        if (isShared(call)) return await sharedRead(app, call.operation, input, respond)
        return unshared(await respond())
      } catch (error) {
        logSecurityEvent(app, rejectedEvent(call, actor, error))
        throw error
      }
    })
}

function withOwnAgent(call: Call, actor: Actor): Call['input'] {
  if (!namesOwnAgent(call)) return call.input
  if (actor.kind === 'agent') return { ...call.input, agent_id: actor.agentId }
  if (actor.kind !== 'anonymous') return call.input
  throw new ApiError(
    'unauthenticated',
    'agent_id me is the agent of an API key. Send the key (Authorization: Bearer market_…), or name the agent.',
    { code: 'credentials_missing' },
  )
}

/** The 402 of what the request asks for, or undefined where it cannot be bought. */
async function challengeFor(app: AppServices, call: Call): Promise<ApiResponse | undefined> {
  try {
    return await purchase(app, call, undefined)
  } catch (error) {
    if (asApiError(error) === undefined) throw error
    return undefined
  }
}

async function replayOrRun(
  app: AppServices,
  call: Call,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<ApiResponse> {
  const key = requestKey(call, caller.actor)
  if (key === undefined) return (await run(app, call, caller, input))()
  const taken = await acquireLease(app, key)
  if ('replay' in taken) {
    await handlerOf(call).checkReplay?.({ db: app.db, actor: caller.actor }, call.file, taken.replay.body)
    return { ...taken.replay, headers: { 'Idempotent-Replayed': 'true' } }
  }
  const { lease } = taken
  let respond: Respond
  try {
    respond = await run(app, call, caller, input, lease)
  } catch (error) {
    if (isCommitted(error)) throw error
    const stored = storedError(error, call.requestId)
    if (stored === undefined) await releaseLease(app, lease).catch(() => {})
    else await storeResponse(app, app.db, lease, stored)
    throw error
  }
  // The response is stored by now. What the caller waits for does not change it, also when it is an error.
  return respond()
}

const handlerOf = ({ operation }: Call): AnyHandler => handlers[operation.id as keyof typeof handlers]

const hasCursor = ({ input, beside }: Operation): boolean =>
  input instanceof z.ZodObject && 'cursor' in input.shape && 'next_cursor' in (beside?.shape ?? {})

/** Returns the response. A handler with `afterCommit` waits for the result of the committed write first. */
type Respond = () => Promise<ApiResponse>

async function run(
  app: AppServices,
  call: Call,
  caller: Caller,
  input: Record<string, unknown>,
  lease?: Parameters<typeof storeResponse>[2],
): Promise<Respond> {
  const handler = handlerOf(call)
  const { budget = REST_BUDGET } = call
  const transaction = requestTransaction(app, call, caller, lease, (result) =>
    envelope(call.operation, handler.present(result as never, ctx)),
  )
  const ctx: HandlerContext = {
    ...app,
    actor: caller.actor,
    caller,
    requestId: call.requestId,
    file: call.file,
    keyDigest: lease && digestOf(lease.request),
    budget,
    transact: transaction.transact,
  }
  const runWith = (given: Readonly<Record<string, unknown>>) => handler.run(ctx, given as never)
  const logDone = () => {
    for (const event of doneEvents(call, caller.actor, input)) app.onSecurityEvent(event)
  }
  if (isWrite(call.operation)) {
    const result = await runWith(input)
    // It has been committed by now.
    logDone()
    const response = transaction.responseFor(result)
    const { afterCommit } = handler
    if (afterCommit === undefined) return async () => response
    return async () => {
      const later = await afterCommit(ctx, result as never, input as never)
      return envelope(call.operation, handler.present(later as never, ctx))
    }
  }
  const read = async (given: typeof input) => handler.present((await runWith(given)) as never, ctx)
  const response = await readResponse()
  logDone()
  return async () => response

  async function readResponse() {
    if (!hasCursor(call.operation)) return envelope(call.operation, await read(input), budget)
    const page = openPage(call.operation, budget)
    await readInParts(read as ReadPart, input, budget, page)
    return page.response()
  }
}
