import { Readable } from 'node:stream'
import type { EventStream, EventStreams } from '@market/handlers/event-streams'
import type { FastifyInstance } from 'fastify'
import { type Addressing, addressOf } from './address-of.ts'
import { credentialsOf } from './rest.ts'

/** A word often enough that no proxy or server takes the silence for an end. */
const HEARTBEAT_MS = 15_000

/** A client that lost the connection asks again after this. */
const RETRY_MS = 2_000

/** A client that takes nothing for so long is gone, whatever its socket says. */
const PATIENCE_MS = 20_000

/** How long a client may take to read the end of its stream when the server goes. */
const LAST_WORD_MS = 1_000

/** Agents show their key; nothing else in the request is taken for a credential of theirs. */
const FOR_AGENTS = { kept: new Set<string>(), takesPeople: false }

interface StreamSettings extends Addressing {
  readonly ownOrigins: ReadonlySet<string>
}

/**
 * An agent's events as they happen. Each carries its number as id, so that a client that comes back with
 * `Last-Event-ID` misses nothing. A client that reads slowly is sent slowly: nothing piles up here.
 */
export function mountEventStream(
  app: FastifyInstance,
  streams: EventStreams,
  settings: StreamSettings,
): void {
  const open = new Set<{ readonly end: () => void; readonly cut: () => void }>()
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    streams.stop()
    for (const one of open) one.end()
    setTimeout(() => {
      for (const one of open) one.cut()
    }, LAST_WORD_MS).unref()
  })
  app.get('/api/events/stream', async (request, reply) => {
    request.operation = 'streamEvents'
    const { after, ...rest } = request.query as Record<string, unknown>
    const input: Record<string, unknown> = { ...rest, after: request.headers['last-event-id'] ?? after }
    if (input['after'] === undefined) delete input['after']
    const stream = await streams.open({
      ...credentialsOf(request, input, FOR_AGENTS, settings),
      input,
      address: addressOf(request, settings),
      requestId: request.id,
    })
    if ('status' in stream) return reply.code(stream.status).headers(stream.headers).send(stream.body)
    const controller = new AbortController()
    const end = () => controller.abort()
    const cut = () => void reply.raw.destroy()
    const one = { end, cut }
    open.add(one)
    // It was asked for before the server was told to go, and opened after.
    if (closing) end()
    // Said of the socket, not of the stream: a client that goes before the first byte is also gone.
    request.raw.once('close', end)
    const body = Readable.from(framesOf(stream, controller.signal, cut), { objectMode: false })
    body.once('close', () => {
      end()
      open.delete(one)
      stream.close()
    })
    return reply
      .type('text/event-stream; charset=utf-8')
      .headers({ ...stream.headers, 'X-Accel-Buffering': 'no' })
      .send(body)
  })
}

async function* framesOf(stream: EventStream, signal: AbortSignal, cut: () => void): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  for await (const event of stream.read(signal, HEARTBEAT_MS)) {
    const patience = setTimeout(cut, PATIENCE_MS)
    try {
      if (event === undefined) yield ': still here\n\n'
      else yield `id: ${event.cursor}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`
    } finally {
      clearTimeout(patience)
    }
  }
}
