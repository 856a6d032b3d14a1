import { readApiUrl } from '@market/contract/api-url'
import type { OperationId } from './calls.ts'
import { type CallOptions, Connection, type Credentials, type Fields, type Route } from './connection.ts'
import { type BuyerEvent, type EventOptions, type SellerEvent, streamEvents } from './events.ts'
import type { Calls } from './generated/calls.ts'
import { ROUTES } from './generated/routes.ts'
import { identified } from './identify.ts'
import { iterate } from './list.ts'
import type { Transport } from './send.ts'
import { requestSigner } from './sign-request.ts'
import { VERSION } from './version.ts'

export interface MarketOptions extends Credentials, Partial<Transport> {
  /** The origin of the API, for example https://api.example. */
  readonly apiUrl: string
  /** The public origin of the API, which the texts for wallets name. Set it when `apiUrl` is another one; `apiUrl` by default. */
  readonly site?: string | undefined
  /** What the API is told that calls it; `sdk/<version>` by default. */
  readonly client?: string
  /** Gets one sentence when the API supports only later versions of the client; a warning on the console by default. */
  readonly onOutdated?: (message: string) => void
}

const DEFAULTS = { retries: 4, maxWaitSeconds: 60, timeoutMs: 60_000 }

export interface Client extends Calls {}

/** Calls every operation of one marketplace with one credential, and reads its events. The pages load no more of this package. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor defines a method for every operation.
export class Client {
  readonly apiUrl: string
  protected readonly connection: Connection

  constructor({ apiUrl, site, apiKey, token, wallet, client, onOutdated, ...transport }: MarketOptions) {
    const api = readApiUrl('apiUrl', apiUrl)
    if ('problem' in api) throw new TypeError(api.problem)
    const named = readApiUrl('site', site ?? apiUrl)
    if ('problem' in named) throw new TypeError(named.problem)
    if ([apiKey, token, wallet].filter((one) => one !== undefined).length > 1)
      throw new TypeError(
        'Pass one of apiKey, token and wallet. A second wallet signs as cosigner of a call.',
      )
    this.apiUrl = api.origin
    const { fetch: send, ...chosen } = withoutUndefined(transport)
    this.connection = new Connection(
      api.origin,
      { apiKey, token, wallet },
      {
        ...{ ...DEFAULTS, ...chosen },
        fetch: identified(send ?? ((...request) => fetch(...request)), {
          client: client ?? `sdk/${VERSION}`,
          apiUrl: api.origin,
          // biome-ignore lint/suspicious/noConsole: a library knows no other place that its user reads.
          onOutdated: onOutdated ?? ((message) => console.warn(message)),
        }),
      },
      requestSigner(
        (signer, wallet_chain, purpose) =>
          this.getAuthMessage({ wallet: signer, wallet_chain, purpose } as never),
        named.origin,
      ),
      async () => (await this.getMyAgent()).id,
    )
    for (const [id, route] of Object.entries(ROUTES) as [OperationId, Route][])
      Object.defineProperty(this, id, { value: this.#method(route) })
  }

  /** The events of what you sell or bought. Resumes after the last event, whatever happens to the connection. */
  events(options: EventOptions & { readonly role: 'buyer' }): AsyncGenerator<BuyerEvent, void, undefined>
  events(options?: EventOptions & { readonly role?: 'seller' }): AsyncGenerator<SellerEvent, void, undefined>
  events(options: EventOptions = {}): AsyncGenerator<never, void, undefined> {
    return streamEvents(this.connection, options) as AsyncGenerator<never, void, undefined>
  }

  #method(route: Route) {
    const call = (input: Fields = {}, options: CallOptions = {}) =>
      this.connection.call(route, input, options)
    if (!route.isList) return call
    return (input: Fields = {}, options: CallOptions = {}) =>
      iterate((cursor) => call(cursor === undefined ? input : { ...input, cursor }, options) as never)
  }
}

/** An option that is undefined counts as absent. */
const withoutUndefined = <Options extends object>(options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options

export { MarketError } from './errors.ts'
export { newestCursor } from './newest-cursor.ts'
