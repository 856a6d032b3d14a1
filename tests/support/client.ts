import { randomInt } from 'node:crypto'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Envelope
}

/** As answers arrive: anything may be in them, and tests say what they expect. */
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

export interface Ask {
  readonly body?: unknown
  readonly bearer?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The client's address; a fresh one for every call unless given, so that limits of one test leave others alone. */
  readonly from?: string
  readonly key?: string
}

export type Client = ReturnType<typeof client>

export const someAddress = (): string => `198.${randomInt(20, 250)}.${randomInt(256)}.${randomInt(1, 255)}`

export function client(url: string) {
  const send = async (method: string, path: string, ask: Ask = {}): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-forwarded-for': ask.from ?? someAddress(),
        ...(ask.body !== undefined && { 'content-type': 'application/json' }),
        ...(ask.bearer !== undefined && { authorization: `Bearer ${ask.bearer}` }),
        ...(ask.key !== undefined && { 'idempotency-key': ask.key }),
        ...ask.headers,
      },
      ...(ask.body !== undefined && {
        body: typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body),
      }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Envelope }
  }
  return {
    send,
    get: (path: string, ask?: Ask) => send('GET', path, ask),
    post: (path: string, body?: unknown, ask?: Ask) => send('POST', path, { ...ask, body }),
    put: (path: string, body?: unknown, ask?: Ask) => send('PUT', path, { ...ask, body }),
    patch: (path: string, body?: unknown, ask?: Ask) => send('PATCH', path, { ...ask, body }),
  }
}
