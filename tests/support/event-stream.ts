import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { someAddress } from './client.ts'
import { until } from './until.ts'

interface Frame {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields whose presence is what it tests
  readonly data: any
  /** When it arrived, by `performance.now()`. */
  readonly at: number
}

export interface OpenStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly frames: readonly Frame[]
  readonly comments: readonly string[]
  /** The whole raw text so far. */
  text(): string
  /** Resolves when the server ended the response; rejects when the connection was cut. */
  readonly ended: Promise<void>
  until(count: number, withinMs?: number): Promise<readonly Frame[]>
  /** Stops reading, or reads on. */
  pause(): void
  close(): void
}

interface StreamOptions {
  readonly bearer?: string
  readonly after?: string
  readonly lastEventId?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
}

/** Opens GET /api/events/stream and reads its frames. */
export async function openStream(url: string, options: StreamOptions = {}): Promise<OpenStream> {
  const query = options.after === undefined ? (options.query ?? '') : `?after=${options.after}`
  const headers = {
    'x-forwarded-for': options.from ?? someAddress(),
    ...(options.bearer !== undefined && { authorization: `Bearer ${options.bearer}` }),
    ...(options.lastEventId !== undefined && { 'last-event-id': options.lastEventId }),
    ...options.headers,
  }
  const request = get(`${url}/api/events/stream${query}`, { headers, agent: false })
  const response = await responseOf(request)
  const frames: Frame[] = []
  const comments: string[] = []
  let text = ''
  let rest = ''
  const ended = new Promise<void>((resolve, reject) => {
    response.once('end', resolve)
    response.once('error', reject)
  })
  // Prevents an unhandled rejection in tests that do not await `ended`.
  ended.catch(() => {})
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith(':')) comments.push(part.slice(2))
      const fields = new Map(
        part.split('\n').map((line) => [/^\w*/.exec(line)?.[0] ?? '', line.replace(/^\w*: /, '')]),
      )
      if (!fields.has('data')) continue
      const data = JSON.parse(fields.get('data') ?? '')
      frames.push({
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data,
        at: performance.now(),
      })
    }
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    frames,
    comments,
    text: () => text,
    ended,
    until: async (count, withinMs = 5_000) => {
      await until(`${count} events arrived`, () => frames.length >= count, { withinMs, everyMs: 5 })
      return frames
    },
    pause: () => response.pause(),
    close: () => request.destroy(),
  }
}

const responseOf = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
  })
