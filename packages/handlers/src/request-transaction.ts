import type { SwitchName } from '@market/contract/define'
import type { Context } from '@market/core/context'
import { type Lease, storeResponse } from '@market/core/idempotency'
import { markSignatureUsed } from '@market/core/signatures'
import { rejectWhileStopped } from '@market/core/switches'
import { CommitThenReject, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { AppServices } from './app-services.ts'
import type { Answer, Call } from './call.ts'
import type { Caller } from './caller.ts'

interface RequestTransaction {
  readonly transact: Context['transact']
  /** The answer that was made, and for a keyed request kept, inside the transaction. */
  readonly answerFor: (result: unknown) => Answer
}

/**
 * The one transaction of a request: proof, effect and answer stand or fall together, so that a crash at any
 * moment leaves either nothing or all of it.
 */
export function requestTransaction(
  app: AppServices,
  call: Call,
  caller: Caller,
  lease: Lease | undefined,
  present: (result: unknown) => Answer,
): RequestTransaction {
  const stops = stopsOf(call)
  let begun = false
  let made: { result: unknown; answer: Answer } | undefined
  return {
    transact: async (work) => {
      assert(!begun, `${call.operation.id} opens one transaction`)
      begun = true
      return transact(app.db, async (tx) => {
        await rejectWhileStopped(tx, stops)
        if (caller.singleUse !== undefined) await markSignatureUsed(app, tx, caller.singleUse)
        const result = await work(tx)
        if (result instanceof CommitThenReject) return result
        const answer = present(result)
        if (lease !== undefined) await storeResponse(app, tx, lease, answer)
        made = { result, answer }
        return result
      })
    },
    answerFor: (result) => {
      assert(
        made !== undefined && made.result === result,
        `${call.operation.id} returns what its transaction returned`,
      )
      return made.answer
    },
  }
}

function stopsOf({ operation }: Call): readonly SwitchName[] {
  return operation.worksReadOnly === true ? [] : ['read_only', ...(operation.stoppedBy ?? [])]
}
