import type { Operation, SwitchName } from '@market/contract/define'
import type { Context } from '@market/core/context'
import { type Lease, storeResponse } from '@market/core/idempotency'
import { markSignatureUsed } from '@market/core/signatures'
import { rejectWhileStopped } from '@market/core/switches'
import { CommitThenReject, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { AppServices } from './app-services.ts'
import type { ApiResponse, Call } from './call.ts'
import type { Caller } from './caller.ts'
import { recordProgramChange } from './connected-program.ts'
import { asApiError, failureOf } from './failure.ts'

interface RequestTransaction {
  readonly transact: Context['transact']
  /** The response that was presented, and stored for an Idempotency-Key, inside the transaction. */
  readonly responseFor: (result: unknown) => ApiResponse
}

/**
 * The one transaction of a request: the used signature, the effect and the stored response commit together, so that a
 * crash at any moment leaves all of it or nothing.
 */
export function requestTransaction(
  app: AppServices,
  call: Call,
  caller: Caller,
  lease: Lease | undefined,
  present: (result: unknown) => ApiResponse,
): RequestTransaction {
  const stops = stopsOf(call.operation)
  let begun = false
  let made: { result: unknown; response: ApiResponse } | undefined
  return {
    transact: async (work) => {
      assert(!begun, `${call.operation.id} opens one transaction`)
      begun = true
      return transact(app.db, async (tx) => {
        await rejectWhileStopped(tx, stops)
        if (caller.singleUse !== undefined) await markSignatureUsed(app, tx, caller.singleUse)
        const result = await work(tx)
        if (result instanceof CommitThenReject) {
          const stored = storedError(result.error, call.requestId)
          if (lease !== undefined && stored !== undefined) {
            await storeResponse(app, tx, lease, stored)
            committedErrors.add(result.error)
          }
          return result
        }
        const response = present(result)
        // fix: program-changes
        await recordProgramChange(app, tx, call, caller, response.body)
        if (lease !== undefined) await storeResponse(app, tx, lease, response)
        made = { result, response }
        return result
      })
    },
    responseFor: (result) => {
      assert(
        made !== undefined && made.result === result,
        `${call.operation.id} returns what its transaction returned`,
      )
      return made.response
    },
  }
}

/** Errors that the same request would meet again are stored for its Idempotency-Key; others are not. */
const STORED = new Set(['payment_required', 'forbidden', 'not_found', 'conflict'])
/** Over once the wallet has done the operation before. The id of a wallet operation follows from its key, so it must be tried with the same one. */
const PASSING = new Set(['wallet_busy'])

export function storedError(
  error: unknown,
  requestId: string,
): { readonly status: number; readonly body: unknown } | undefined {
  const apiError = asApiError(error)
  if (apiError === undefined || !STORED.has(apiError.kind)) return undefined
  if (PASSING.has(apiError.extra.code ?? '')) return undefined
  const { status, body } = failureOf(apiError, requestId)
  return { status, body }
}

const committedErrors = new WeakSet<object>()

/** Whether the transaction committed with this error, and stored its response. */
export const isCommitted = (error: unknown): boolean => error instanceof Error && committedErrors.has(error)

/** The switches that stop a write. */
export function stopsOf(operation: Operation): readonly SwitchName[] {
  return operation.worksReadOnly === true ? [] : ['read_only', ...(operation.stoppedBy ?? [])]
}
