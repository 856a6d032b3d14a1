const SMALL_BYTES = 64 * 1_024

export interface JsonResponse {
  readonly status: number
  /** Undefined unless the status is 200. */
  readonly body: unknown
}

interface Limits {
  readonly timeoutMs: number
  readonly maxBytes?: number
}

/** GET of a JSON document from a configured server: no redirects, one deadline for everything, 64 KB unless said. */
export const fetchJson = (url: URL, limits: Limits, bearer?: string): Promise<JsonResponse> =>
  request(url, limits, { headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } })

/** The same with other headers, for servers that do not take a bearer token. With a body it is a POST. */
export const requestJson = (
  url: URL,
  limits: Limits,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown },
): Promise<JsonResponse> =>
  body === undefined
    ? request(url, limits, { headers })
    : request(url, limits, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })

async function request(
  url: URL,
  { timeoutMs, maxBytes = SMALL_BYTES }: Limits,
  init: RequestInit,
): Promise<JsonResponse> {
  const response = await fetch(url, {
    ...init,
    headers: { accept: 'application/json', ...init.headers },
    // A redirect would send the access token to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    return { status: response.status, body: undefined }
  }
  return { status: 200, body: JSON.parse(await readText(response, maxBytes)) as unknown }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
