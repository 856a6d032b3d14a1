import { readApiUrl } from '@market/contract/api-url'
import { requestOf } from '@market/contract/client'
import { ROUTES } from './generated/routes.ts'
import type { Operations } from './generated/types.ts'
import { iterate } from './list.ts'
import { type Prepared, sendWithRetries, type Transport } from './send.ts'
import { fillPurpose, requestSigner } from './sign-request.ts'
import type { WalletSigner } from './wallets.ts'

type OperationId = keyof Operations & keyof typeof ROUTES

/** One of them says who calls. Without any, public operations work. */
export interface Credentials {
  /** The API key of an agent. */
  readonly apiKey?: string | undefined
  /** An access token of the identity provider or of OAuth, or what returns the current one. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Signs every request. */
  readonly wallet?: WalletSigner | undefined
}

export interface MarketOptions extends Credentials, Partial<Transport> {
  /** The origin of the API, for example https://api.example. */
  readonly apiUrl: string
}

export interface CallOptions {
  /** Makes the call safe to repeat for 24 hours. Every write has a random one by default. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /** A wallet that signs beside the credential, for example the future owner of an agent. */
  readonly cosigner?: WalletSigner
}

interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly isWrite?: true
  readonly isList?: true
  readonly hasMore?: true
  readonly isBare?: true
  readonly file?: string
  readonly purpose?: string
}

type Fields = Readonly<Record<string, unknown>>

/** `data` of the response. A list also has the fields beside it, such as `next_cursor`. */
export type Result<Id extends OperationId> = Operations[Id] extends { more: infer More }
  ? { readonly data: Operations[Id]['data'] } & Readonly<More>
  : Operations[Id]['data']

/** Await it for one page, or iterate over the items of all pages with `for await`. */
export type Listed<Page, Item> = Promise<Page> & AsyncIterable<Item>

type Returned<Id extends OperationId> = (typeof ROUTES)[Id] extends { readonly isList: true }
  ? Listed<Result<Id>, Operations[Id]['data'] extends readonly (infer Item)[] ? Item : never>
  : Promise<Result<Id>>

type Call<Id extends OperationId> =
  Record<never, never> extends Operations[Id]['input']
    ? (input?: Operations[Id]['input'], options?: CallOptions) => Returned<Id>
    : (input: Operations[Id]['input'], options?: CallOptions) => Returned<Id>

/** A method for each operation of the API. */
export type Calls = { readonly [Id in OperationId]: Call<Id> }

const DEFAULTS = { retries: 4, maxWaitSeconds: 60, timeoutMs: 60_000 }

export interface Market extends Calls {}

/** A client of one marketplace with one credential. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor defines a method for every operation.
export class Market {
  readonly apiUrl: string
  readonly #credentials: Credentials
  readonly #transport: Transport
  readonly #sign = requestSigner((wallet, wallet_chain, purpose) =>
    this.getAuthMessage({ wallet, wallet_chain, purpose } as never),
  )
  #ownAgent: Promise<string> | undefined

  constructor({ apiUrl, apiKey, token, wallet, ...transport }: MarketOptions) {
    const api = readApiUrl('apiUrl', apiUrl)
    if ('problem' in api) throw new TypeError(api.problem)
    if ([apiKey, token, wallet].filter((one) => one !== undefined).length > 1)
      throw new TypeError(
        'Pass one of apiKey, token and wallet. A second wallet signs as cosigner of a call.',
      )
    this.apiUrl = api.origin
    this.#credentials = { apiKey, token, wallet }
    this.#transport = { ...DEFAULTS, fetch: (...request) => fetch(...request), ...transport }
    for (const [id, route] of Object.entries(ROUTES) as [OperationId, Route][])
      Object.defineProperty(this, id, { value: this.#method(route) })
  }

  #method(route: Route) {
    const call = (input: Fields = {}, options: CallOptions = {}) => this.#call(route, input, options)
    if (!route.isList) return call
    return (input: Fields = {}, options: CallOptions = {}) =>
      iterate((cursor) => call(cursor === undefined ? input : { ...input, cursor }, options) as never)
  }

  async #call(route: Route, input: Fields, options: CallOptions): Promise<unknown> {
    const idempotencyKey = options.idempotencyKey ?? (route.isWrite ? crypto.randomUUID() : undefined)
    const { body } = await sendWithRetries(this.#transport, () =>
      this.#prepare(route, input, { ...options, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
    )
    if (route.isBare) return body
    const { success: _, ...result } = body as Fields
    return route.hasMore ? result : result['data']
  }

  async #prepare(route: Route, input: Fields, options: CallOptions): Promise<Prepared> {
    const { cosigner, idempotencyKey, signal } = options
    const { wallet: caller } = this.#credentials
    const signer = cosigner ?? caller
    const wallet =
      signer !== undefined && route.purpose !== undefined
        ? await this.#sign(signer, fillPurpose(route.purpose, input, await this.#meOf(route.purpose)))
        : undefined
    const authorization = { bearer: await this.#bearer(), wallet, idempotencyKey }
    const { method, path, headers, body } = route.file
      ? withForm(route, route.file, input, authorization)
      : requestOf(route, input, authorization)
    return { url: this.apiUrl + path, init: { method, headers, ...(body !== undefined && { body }) }, signal }
  }

  async #bearer(): Promise<string | undefined> {
    const { apiKey, token } = this.#credentials
    return apiKey ?? (typeof token === 'function' ? await token() : token)
  }

  /** The own agent is part of some signed texts. */
  async #meOf(purpose: string): Promise<string> {
    if (!purpose.includes('{me}')) return ''
    this.#ownAgent ??= this.getMyAgent().then(({ id }) => id)
    return this.#ownAgent
  }
}

/** A file is sent as a form, and its credentials as headers. */
function withForm(route: Route, field: string, input: Fields, authorization: object) {
  const { path, headers } = requestOf({ method: 'GET', path: route.path }, {}, authorization)
  const body = new FormData()
  body.append(field, input[field] as Blob)
  return { method: route.method, path, headers, body }
}
