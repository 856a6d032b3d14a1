import type { OAuthKeys, OAuthService } from '@market/handlers/oauth'
import type { FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import { createProvider } from './provider.ts'

export interface OAuthSettings {
  readonly service: OAuthService
  readonly appUrl: string
  /** The URL of the server that access tokens are for. */
  readonly resource: string
  readonly ownOrigins: ReadonlySet<string>
  readonly addressOf: (request: FastifyRequest) => string
}

type Keys = readonly [OAuthKeys, ...OAuthKeys[]]
export type CurrentProvider = () => Promise<{
  readonly provider: Provider
  /** Responds to a request to an endpoint of the provider. */
  readonly respond: ReturnType<Provider['callback']>
  readonly keys: Keys
}>

/** Keys are read again after this time; a new one signs only later. */
const KEYS_FRESH_MS = 10 * 60_000

/** The provider of the current keys. Keys change every three months, and processes learn of it by themselves. */
export function currentProvider(settings: OAuthSettings): CurrentProvider {
  let loading: ReturnType<CurrentProvider> | undefined
  let loadedAt = 0
  return () => {
    if (loading !== undefined && performance.now() - loadedAt < KEYS_FRESH_MS) return loading
    loadedAt = performance.now()
    const next = settings.service.keys().then((keys) => {
      const provider = createProvider(settings, keys)
      return { keys, provider, respond: provider.callback() }
    })
    loading = next
    next.catch(() => {
      loading = undefined
    })
    return next
  }
}
