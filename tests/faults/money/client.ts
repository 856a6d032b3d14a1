import { setTimeout as wait } from 'node:timers/promises'
import { type Envelope, someAddress } from '../../support/client.ts'
import { asHeaders, signed } from '../../support/makers.ts'
import type { AppServices } from './application.ts'
import type { Buyer } from './test-chain.ts'

/** The caller: a key or token, a wallet that signs every attempt again, or anonymous. */
export type Caller =
  | { readonly bearer: string }
  | { readonly wallet: Pick<Buyer, 'address' | 'sign'> }
  | { readonly anonymous: true }

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly caller: Caller
  /** What a wallet signs for. */
  readonly purpose?: string
  /** A payment that comes with it. */
  readonly payment?: Readonly<Record<string, string>>
  /** The same for every try: the effect happens once however often it is asked for. */
  readonly key?: string
}

export interface ClientResponse {
  readonly status: number
  readonly body: Envelope
  readonly headers: Headers
}

export interface Counts {
  requests: number
  answered5xx: number
  retries: number
  unanswered: number
  /** What was answered with 500: not that something is away, but that something is wrong. */
  readonly wrong: string[]
}

export type Client = ReturnType<typeof retryingClient>

const TRY_MS = 5_000
/** Longer than a killed process holds the right to answer for a key. */
const LONG_TIMEOUT_MS = 26_000
const PAUSE_MS = 60
const IN_PROGRESS = ['request_in_progress', 'payment_in_progress']

/** A client as the contract asks for: it repeats what was not answered, with the same key, until it is. */
export function retryingClient(app: AppServices, random: () => number) {
  const counts: Counts = { requests: 0, answered5xx: 0, retries: 0, unanswered: 0, wrong: [] }
  const credentials = async ({ caller, purpose = 'session' }: Request): Promise<Record<string, string>> => {
    if ('anonymous' in caller) return {}
    if ('bearer' in caller) return { authorization: `Bearer ${caller.bearer}` }
    return asHeaders(await signed(caller.wallet, purpose))
  }
  const tryOnce = async (request: Request): Promise<ClientResponse | undefined> => {
    const url = app.apiUrl()
    if (url === undefined) return undefined
    const isRead = request.method === 'GET'
    const response = await fetch(`${url}${request.path}`, {
      method: request.method,
      headers: {
        'x-forwarded-for': someAddress(),
        ...(!isRead && { 'content-type': 'application/json' }),
        ...(request.key !== undefined && { 'idempotency-key': request.key }),
        ...request.payment,
        ...(await credentials(request)),
      },
      ...(!isRead && { body: JSON.stringify(request.body ?? {}) }),
      signal: AbortSignal.timeout(TRY_MS),
    })
    const { status, headers } = response
    return { status, headers, body: (await response.json()) as Envelope }
  }
  const isFinal = ({ status, body }: ClientResponse): boolean =>
    status < 500 && status !== 429 && !IN_PROGRESS.includes(body.code ?? '')

  return {
    counts,
    /** The answer, or undefined when there was none for a long time. */
    async send(request: Request): Promise<ClientResponse | undefined> {
      const deadline = performance.now() + LONG_TIMEOUT_MS
      for (;;) {
        counts.requests++
        const answer = await tryOnce(request).catch(() => undefined)
        if (answer !== undefined && isFinal(answer)) return answer
        if (answer !== undefined && answer.status >= 500) counts.answered5xx++
        if (answer?.status === 500) counts.wrong.push(`${request.purpose ?? request.path}`)
        if (performance.now() > deadline) {
          counts.unanswered++
          return undefined
        }
        counts.retries++
        await wait(PAUSE_MS + random() * 4 * PAUSE_MS)
      }
    },
  }
}
