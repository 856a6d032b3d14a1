import type { Context } from '@market/core/context'
import type { Limiter } from '@market/core/ports/limiter'
import type { Call } from './call.ts'
import type { Operators } from './identify.ts'

/** Everything the executor stands on; made once by the app. */
export interface AppServices extends Omit<Context, 'transact' | 'actor' | 'requestId'> {
  readonly limiter: Limiter
  readonly operators: Operators
  /** Told of every error that is a fault of ours or of a part we depend on. */
  readonly onFault: (error: unknown, call: Pick<Call, 'requestId'>) => void
}
