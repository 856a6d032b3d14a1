const MAX_BYTES = 64 * 1_024

export interface JsonResponse {
  readonly status: number
  /** Undefined unless the status is 200. */
  readonly body: unknown
}

/** GET of a small JSON document from the identity provider: no redirects, one deadline for everything, 64 KB. */
export async function fetchJson(url: URL, timeoutMs: number, bearer?: string): Promise<JsonResponse> {
  const response = await fetch(url, {
    headers: {
      accept: 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    // A redirect would send the access token to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    return { status: response.status, body: undefined }
  }
  return { status: 200, body: JSON.parse(await readText(response)) as unknown }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
