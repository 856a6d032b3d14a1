import type { LimitName } from '@market/contract/limits'
import type { AppServices } from './app-services.ts'
import type { Answer, Call } from './call.ts'
import { asApiError, failureOf } from './failure.ts'
import { limit } from './limit.ts'

/** The way of every door: counted first, then answered or rejected, with the limit's headers on whatever is said. */
export async function answerLimited(
  app: AppServices,
  limited: { readonly limit: LimitName } | undefined,
  call: Pick<Call, 'address' | 'requestId'>,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  let headers: Readonly<Record<string, string>> = {}
  try {
    if (limited !== undefined) {
      const taken = await limit(app, limited, call.address)
      headers = taken.headers
      if (taken.apiError !== undefined) throw taken.apiError
    }
    const said = await answer()
    return { ...said, headers: { ...headers, ...said.headers } }
  } catch (error) {
    const apiError = asApiError(error)
    if (apiError === undefined || apiError.cause !== undefined) app.onFault(error, call)
    const failure = failureOf(error, call.requestId)
    return { ...failure, headers: { ...headers, ...failure.headers } }
  }
}
