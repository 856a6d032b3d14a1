import type { LimitName } from '@market/contract/limits'
import type { Answer, Call } from './call.ts'
import { asRefusal, failureOf } from './failure.ts'
import type { House } from './house.ts'
import { limit } from './limit.ts'

/** The way of every door: counted first, then answered or refused, with the limit's headers on whatever is said. */
export async function answerLimited(
  house: House,
  limited: { readonly limit: LimitName } | undefined,
  call: Pick<Call, 'address' | 'requestId'>,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  let headers: Readonly<Record<string, string>> = {}
  try {
    if (limited !== undefined) {
      const taken = await limit(house, limited, call.address)
      headers = taken.headers
      if (taken.refusal !== undefined) throw taken.refusal
    }
    const said = await answer()
    return { ...said, headers: { ...headers, ...said.headers } }
  } catch (error) {
    const refusal = asRefusal(error)
    if (refusal === undefined || refusal.cause !== undefined) house.onFault(error, call)
    const failure = failureOf(error, call.requestId)
    return { ...failure, headers: { ...headers, ...failure.headers } }
  }
}
