import type { Screening } from '@market/core/ports/screening'
import { z } from 'zod'

interface HttpScreeningSettings {
  readonly url: string
  /** Sent as a bearer token. */
  readonly token: string | undefined
  readonly timeoutMs: number
}

const Answer = z.object({ listed: z.array(z.string().max(200)).max(1_000) })

/** A service that is asked with `{network, addresses}` and answers `{listed}`. Any other answer is an error. */
export function httpScreening({ url, token, timeoutMs }: HttpScreeningSettings): Screening {
  return {
    async findListed(network, addresses) {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ network, addresses }),
        // A redirect would send the token to another host.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        throw new Error(`the screening service answered ${response.status}`)
      }
      return Answer.parse(await response.json()).listed
    },
  }
}
