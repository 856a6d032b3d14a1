import { randomInt } from 'node:crypto'
import { responseProblem } from './check-response.ts'
import { checkCode } from './listed-codes.ts'
import { testPath } from './test-path.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Envelope
}

/** A parsed response body of any operation. */
export interface Envelope {
  readonly success: boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields whose presence is what it tests
  readonly data?: any
  readonly error?: string
  readonly code?: string
  readonly request_id?: string
  readonly details?: readonly { path: string; message: string }[]
  readonly next_cursor?: string | null
  readonly [field: string]: unknown
}

export interface RequestOptions {
  readonly body?: unknown
  readonly bearer?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The client's address; by default a new one for every call, so that tests do not share rate limits. */
  readonly from?: string
  readonly key?: string
}

export type Client = ReturnType<typeof client>

export const someAddress = (): string => `198.${randomInt(20, 250)}.${randomInt(256)}.${randomInt(1, 255)}`

/** Every response of these tests is compared with the OpenAPI document. */
const isContractTest = (): boolean => /tests\/contract(-wide)?\//.test(testPath())

const isSentAsIs = (body: unknown): body is string | FormData =>
  typeof body === 'string' || body instanceof FormData

export function client(url: string) {
  const send = async (method: string, path: string, options: RequestOptions = {}): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-forwarded-for': options.from ?? someAddress(),
        ...(options.body !== undefined &&
          !(options.body instanceof FormData) && { 'content-type': 'application/json' }),
        ...(options.bearer !== undefined && { authorization: `Bearer ${options.bearer}` }),
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
        ...options.headers,
      },
      ...(options.body !== undefined && {
        body: isSentAsIs(options.body) ? options.body : JSON.stringify(options.body),
      }),
    })
    const body = JSON.parse(await response.text()) as Envelope
    checkCode(method, path, response.status, body)
    if (isContractTest()) {
      const problem = responseProblem(method, path, response.status, body)
      if (problem !== undefined) throw new Error(problem)
    }
    return { status: response.status, headers: response.headers, body }
  }
  return {
    send,
    get: (path: string, options?: RequestOptions) => send('GET', path, options),
    post: (path: string, body?: unknown, options?: RequestOptions) =>
      send('POST', path, { ...options, body }),
    put: (path: string, body?: unknown, options?: RequestOptions) => send('PUT', path, { ...options, body }),
    patch: (path: string, body?: unknown, options?: RequestOptions) =>
      send('PATCH', path, { ...options, body }),
  }
}
