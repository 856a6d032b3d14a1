import type { LimitName } from '@market/contract/limits'
import type { AppServices } from './app-services.ts'
import type { ApiResponse, Call } from './call.ts'
import { asApiError, failureOf } from './failure.ts'
import { type Counted, limit } from './limit.ts'

/** Counts the request against its limit, then responds. Every response, also of an error, has the limit's headers. */
export async function rateLimited(
  app: AppServices,
  limited: { readonly limit: LimitName },
  call: Counted & Pick<Call, 'requestId'>,
  respond: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  let headers: Readonly<Record<string, string>> = {}
  try {
    const counted = await limit(app, limited, call)
    headers = counted.headers
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
