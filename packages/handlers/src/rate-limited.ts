import type { Operation } from '@market/contract/define'
import type { AppServices } from './app-services.ts'
import type { ApiResponse, Call } from './call.ts'
import { asApiError, failureOf } from './failure.ts'
import { type Counted, limit } from './limit.ts'

/**
 * Counts the request against its limit, then responds. Every response, also of an error, has the limit's headers; of an
 * operation whose responses caches keep, only the 429 has them.
 */
export async function rateLimited(
  app: AppServices,
  limited: Pick<Operation, 'limit' | 'cacheSeconds'>,
  call: Counted & Pick<Call, 'requestId'>,
  respond: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  let headers: Readonly<Record<string, string>> = {}
  try {
    const counted = await limit(app, limited, call)
    // fix: shared-without-limits
    if (limited.cacheSeconds === undefined) headers = counted.headers
    if (counted.apiError !== undefined) throw counted.apiError
    const response = await respond()
    return { ...response, headers: { ...headers, ...response.headers } }
  } catch (error) {
    const apiError = asApiError(error)
    if (apiError === undefined || apiError.cause !== undefined) app.onFault(error, call)
    const failure = failureOf(error, call.requestId)
    return { ...failure, headers: { ...headers, ...failure.headers } }
  }
}
