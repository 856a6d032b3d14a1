import { errorOf, MarketError } from './errors.ts'

/** How a client sends requests. */
export interface Transport {
  readonly fetch: typeof fetch
  /** How often a request is sent again after a failure that can pass. */
  readonly retries: number
  /** A longer `Retry-After` is thrown to the caller instead of waited for. */
  readonly maxWaitSeconds: number
  readonly timeoutMs: number
}

export interface Prepared {
  readonly url: string
  readonly init: RequestInit
  readonly signal: AbortSignal | undefined
}

/** Failures that pass. A write is safe to repeat because every try has the same Idempotency-Key. */
const PASSING = new Set([408, 429, 500, 502, 503, 504])
/** Proxies have statuses of their own from here on, for an API that they cannot reach. */
const FIRST_PROXY_STATUS = 520

/** No wait is longer: a timer of more than 24 days would end at once. */
const MAX_SLEEP_MS = 3_600_000

/**
 * Sends a request until it has a response that does not change by waiting. `prepare` is called for every try, because
 * the signature of a wallet counts once.
 */
export async function sendWithRetries(
  transport: Transport,
  prepare: () => Promise<Prepared>,
): Promise<{ readonly response: Response; readonly body: unknown }> {
  for (let tries = 0; ; tries++) {
    const prepared = await prepare()
    const outcome = await sendOnce(transport, prepared)
    if (!(outcome instanceof MarketError)) return outcome
    const wait = waitSeconds(outcome, tries)
    if (!isPassing(outcome) || tries >= transport.retries || wait > transport.maxWaitSeconds) throw outcome
    await sleep(wait * 1_000, prepared.signal)
  }
}

/** Whether the same request can succeed later. */
export const isPassing = ({ status, code }: MarketError): boolean =>
  PASSING.has(status) || status >= FIRST_PROXY_STATUS || status === 0 || code === 'request_in_progress'

/** What the server asks for, else 0.25, 0.5, 1, … seconds with some chance, so that clients do not return all at once. */
const waitSeconds = ({ retryAfterSeconds }: MarketError, tries: number): number =>
  retryAfterSeconds ?? 0.25 * 2 ** tries * (0.5 + Math.random())

/** One try: the response, or the error that it or its absence is. Throws only when `signal` is aborted. */
export async function sendOnce(
  { fetch, timeoutMs }: Transport,
  { url, init, signal }: Prepared,
): Promise<MarketError | { response: Response; body: unknown }> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      ...init,
      // Another address does not get the credential.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const body = parse(await response.text())
    return response.ok && body !== undefined ? { response, body } : errorOf(response, body)
  } catch (error) {
    signal?.throwIfAborted()
    return noResponse(new URL(url).origin, timeout.aborted ? timeoutMs : undefined, error)
  }
}

export function noResponse(origin: string, timeoutMs: number | undefined, cause: unknown): MarketError {
  if (timeoutMs !== undefined)
    return new MarketError(
      `${origin} did not respond within ${timeoutMs / 1_000} seconds.`,
      { status: 0, code: 'timeout' },
      { cause },
    )
  return new MarketError(
    `${origin} cannot be reached. Check apiUrl and the network.`,
    { status: 0, code: 'unreachable' },
    { cause },
  )
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Resolves after a time of at most an hour, or rejects when `signal` is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
      Math.min(milliseconds, MAX_SLEEP_MS),
    )
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
