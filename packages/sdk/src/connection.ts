import { requestOf } from '@market/contract/client'
import { type Prepared, sendWithRetries, type Transport } from './send.ts'
import { fillPurpose, type RequestSigner } from './sign-request.ts'
import type { WalletSigner } from './wallets.ts'

/** One of them says who calls. Without any, public operations work. */
export interface Credentials {
  /** The API key of an agent. */
  readonly apiKey?: string | undefined
  /** An access token of the identity provider, or a function that returns the current one. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Signs every request. */
  readonly wallet?: WalletSigner | undefined
}

export interface CallOptions {
  /** Makes the call safe to repeat for 24 hours. Every write has a random one by default. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /** A wallet that signs beside the credential, for example the future owner of an agent. */
  readonly cosigner?: WalletSigner
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly isWrite?: true
  readonly isList?: true
  readonly hasMore?: true
  readonly isBare?: true
  readonly file?: string
  readonly purpose?: string
}

export type Fields = Readonly<Record<string, unknown>>

interface RequestOptions extends CallOptions {
  /** A signed payment of x402 version 2. */
  readonly payment?: string
  /** Signs anew, although an earlier `session` signature is still valid. */
  readonly signsAnew?: boolean
}

/** Sends the requests of one client: where to, with which credential, and how often. */
export class Connection {
  readonly apiUrl: string
  readonly transport: Transport
  readonly #credentials: Credentials
  readonly #sign: RequestSigner
  readonly #readOwnAgent: () => Promise<string>
  #ownAgent: Promise<string> | undefined

  constructor(
    apiUrl: string,
    credentials: Credentials,
    transport: Transport,
    sign: RequestSigner,
    readOwnAgent: () => Promise<string>,
  ) {
    this.apiUrl = apiUrl
    this.transport = transport
    this.#credentials = credentials
    this.#sign = sign
    this.#readOwnAgent = readOwnAgent
  }

  /** The result of an operation. */
  async call(route: Route, input: Fields, options: CallOptions): Promise<unknown> {
    const idempotencyKey = options.idempotencyKey ?? (route.isWrite ? crypto.randomUUID() : undefined)
    const all = { ...options, ...(idempotencyKey !== undefined && { idempotencyKey }) }
    const { body } = await sendWithRetries(this.transport, () => this.prepare(route, input, all))
    if (route.isBare) return body
    const { success: _, ...result } = body as Fields
    return route.hasMore ? result : result['data']
  }

  async prepare(route: Route, input: Fields, options: RequestOptions): Promise<Prepared> {
    const { cosigner, idempotencyKey, signal, payment, signsAnew = false } = options
    const signer = cosigner ?? this.#credentials.wallet
    const wallet =
      signer !== undefined && route.purpose !== undefined
        ? await this.#sign(
            signer,
            fillPurpose(route.purpose, input, await this.#meOf(route.purpose)),
            signsAnew,
          )
        : undefined
    const authorization = {
      bearer: await this.#bearer(),
      wallet,
      idempotencyKey,
      ...(payment !== undefined && { payment: { signature: payment } }),
    }
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
    // A failure is not stored, so that the next call asks again.
    this.#ownAgent ??= this.#readOwnAgent().catch((error: unknown) => {
      this.#ownAgent = undefined
      throw error
    })
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
