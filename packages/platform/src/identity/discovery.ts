import { createRemoteJWKSet, customFetch, type RemoteJWKSet } from 'jose'
import { fetchJson, isRecord } from '../fetch-json.ts'

export interface Discovered {
  readonly userinfo: URL
  readonly keys: RemoteJWKSet
}

const FRESH_FOR_MS = 3_600_000
/** After a failure the provider is not called for this long, so that we do not add load during an outage. */
const PAUSE_AFTER_FAILURE_MS = 1_000
/** Minimum time between key requests caused by unknown key ids. */
const KEYS_COOLDOWN_MS = 10_000

/** The provider's discovery document, refreshed every hour. An outdated one is used while the provider cannot be reached. */
export function discovery(issuer: string, timeoutMs: number): () => Promise<Discovered> {
  const home = secureUrl(issuer)
  let known: (Discovered & { readonly keysUrl: string }) | undefined
  let readAtMs = Number.NEGATIVE_INFINITY
  let failedAtMs = Number.NEGATIVE_INFINITY
  let failure: unknown
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    try {
      const { userinfo, keysUrl } = await readDocument(home, issuer, timeoutMs)
      // The key set and its cache are reused while the URL is unchanged.
      const keys = known?.keysUrl === keysUrl.href ? known.keys : keySet(keysUrl, timeoutMs)
      known = { userinfo, keys, keysUrl: keysUrl.href }
      readAtMs = performance.now()
    } catch (error) {
      failure = error
      failedAtMs = performance.now()
    } finally {
      reading = undefined
    }
  }

  return async () => {
    const now = performance.now()
    const due = known === undefined || now - readAtMs >= FRESH_FOR_MS
    if (due && now - failedAtMs >= PAUSE_AFTER_FAILURE_MS) {
      reading ??= read()
      await reading
    }
    if (known === undefined) throw failure
    return known
  }
}

async function readDocument(
  home: URL,
  issuer: string,
  timeoutMs: number,
): Promise<{ userinfo: URL; keysUrl: URL }> {
  const address = new URL(`${home.href.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const { status, body } = await fetchJson(address, { timeoutMs })
  if (!isRecord(body)) throw new Error(`discovery returned ${status} or not a JSON object`)
  if (body['issuer'] !== issuer) throw new Error('the discovery document has another issuer')
  return { userinfo: secureUrl(body['userinfo_endpoint']), keysUrl: secureUrl(body['jwks_uri']) }
}

function keySet(url: URL, timeoutMs: number): RemoteJWKSet {
  return createRemoteJWKSet(url, {
    cooldownDuration: KEYS_COOLDOWN_MS,
    [customFetch]: async () => {
      const { status, body } = await fetchJson(url, { timeoutMs })
      return status === 200 ? Response.json(body) : new Response(null, { status: 502 })
    },
  })
}

export const isLoopback = ({ hostname }: URL): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)

/** https, or http on loopback for development. */
function secureUrl(value: unknown): URL {
  const url = new URL(String(value))
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return url
  throw new Error(`the identity provider's address ${url.origin} is not https`)
}
