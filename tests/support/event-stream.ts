import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { someAddress } from './client.ts'
import { until } from './until.ts'

interface Frame {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields whose presence is what it tests
  readonly data: any
  /** When it came, by this process's own clock. */
  readonly at: number
}

export interface OpenStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly frames: readonly Frame[]
  readonly comments: readonly string[]
  /** Everything that came, as it came. */
  text(): string
  /** Resolves when the other side ended the answer as answers end; rejects when it was cut. */
  readonly ended: Promise<void>
  until(count: number, withinMs?: number): Promise<readonly Frame[]>
  /** Stops reading, or reads on. */
  pause(): void
  close(): void
}

interface StreamAsk {
  readonly bearer?: string
  readonly after?: string
  readonly lastEventId?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
}

/** Opens GET /api/events/stream and reads frames as they come. */
export async function openStream(url: string, ask: StreamAsk = {}): Promise<OpenStream> {
  const query = ask.after === undefined ? (ask.query ?? '') : `?after=${ask.after}`
  const headers = {
    'x-forwarded-for': ask.from ?? someAddress(),
    ...(ask.bearer !== undefined && { authorization: `Bearer ${ask.bearer}` }),
    ...(ask.lastEventId !== undefined && { 'last-event-id': ask.lastEventId }),
    ...ask.headers,
  }
  const request = get(`${url}/api/events/stream${query}`, { headers, agent: false })
  const response = await answered(request)
  const frames: Frame[] = []
  const comments: string[] = []
  let text = ''
  let rest = ''
  const ended = new Promise<void>((resolve, reject) => {
    response.once('end', resolve)
    response.once('error', reject)
  })
  // Whoever does not ask how it ended is told of no cut.
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
      await until(`${count} events came`, () => frames.length >= count, { withinMs, everyMs: 5 })
      return frames
    },
    pause: () => response.pause(),
    close: () => request.destroy(),
  }
}

const answered = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
  })
