import { Readable } from 'node:stream'
import type { EventStream, EventStreams } from '@market/handlers/event-streams'
import type { FastifyInstance } from 'fastify'
import { callerOf, credentialsOf } from './rest.ts'
import { setSessionCookie } from './session-cookie.ts'

/** Shorter than the idle timeouts of proxies and clients. */
const HEARTBEAT_MS = 15_000

/** Delay after which a client reconnects. */
const RETRY_MS = 2_000

/** A client that reads nothing for this long is disconnected. */
const WRITE_TIMEOUT_MS = 20_000

/** Time for clients to read the end of their streams when the server shuts down. */
const CLOSE_GRACE_MS = 1_000

const CREDENTIAL_RULES = { inputFields: new Set<string>(), allowsCookie: true, ignoresForeignCookie: false }

interface StreamSettings {
  readonly ownOrigins: ReadonlySet<string>
  /** Whether browsers reach this server by https. */
  readonly isSecure: boolean
}

/**
 * Streams the events of an agent or a buyer. The id of each is its cursor, so that a client that reconnects with `Last-Event-ID`
 * misses no event. Events are read from the database as the client reads, so a slow client needs no buffer.
 */
export function mountEventStream(
  app: FastifyInstance,
  streams: EventStreams,
  settings: StreamSettings,
): void {
  const open = new Set<{ readonly end: () => void; readonly destroy: () => void }>()
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    streams.stop()
    for (const connection of open) connection.end()
    setTimeout(() => {
      for (const connection of open) connection.destroy()
    }, CLOSE_GRACE_MS).unref()
  })
  app.get('/api/events/stream', async (request, reply) => {
    request.operation = 'streamEvents'
    const { after, ...rest } = request.query as Record<string, unknown>
    const input: Record<string, unknown> = { ...rest, after: request.headers['last-event-id'] ?? after }
    if (input['after'] === undefined) delete input['after']
    const stream = await streams.open({
      ...credentialsOf(request, input, CREDENTIAL_RULES, settings),
      input,
      address: request.client,
      requestId: request.id,
      onCaller: callerOf(request),
    })
    if ('status' in stream) {
      if (stream.cookie) setSessionCookie(reply, stream.cookie, settings)
      return reply.code(stream.status).headers(stream.headers).send(stream.body)
    }
    const controller = new AbortController()
    const end = () => controller.abort()
    const destroy = () => void reply.raw.destroy()
    const connection = { end, destroy }
    open.add(connection)
    // The server began to shut down while the stream was being opened.
    if (closing) end()
    // Listens to the socket, because the stream does not close when a client disconnects before the first byte.
    request.raw.once('close', end)
    const body = Readable.from(framesOf(stream, controller.signal, destroy), { objectMode: false })
    body.once('close', () => {
      end()
      open.delete(connection)
      stream.close()
    })
    return reply
      .type('text/event-stream; charset=utf-8')
      .headers({ ...stream.headers, 'X-Accel-Buffering': 'no' })
      .send(body)
  })
}

async function* framesOf(
  stream: EventStream,
  signal: AbortSignal,
  destroy: () => void,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  for await (const event of stream.read(signal, HEARTBEAT_MS)) {
    const timeout = setTimeout(destroy, WRITE_TIMEOUT_MS)
    try {
      if (event === undefined) yield ': keep-alive\n\n'
      else yield `id: ${event.cursor}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`
    } finally {
      clearTimeout(timeout)
    }
  }
}
