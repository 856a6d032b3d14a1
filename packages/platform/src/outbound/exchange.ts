import type { IncomingMessage } from 'node:http'
import { request as openRequest } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { type OutboundAnswer, OutboundFailure, type OutboundRequest } from '@market/market/ports/outbound'

const readAtMost = async (answer: IncomingMessage, limit: number): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, limit - size))
    size += chunk.length
    if (size >= limit) break
  }
  // Streaming mode leaves out a character that the cut went through.
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: size >= limit })
}

const closed = (cause?: unknown): OutboundFailure => {
  const failure = new OutboundFailure('closed', 'The connection ended before a whole answer came.')
  if (cause !== undefined) failure.cause = cause
  return failure
}

/** One POST over a connection that is already open; no agent, so no pool, proxy setting or redirect plays a part. */
export const exchange = async (
  secure: TLSSocket,
  url: URL,
  request: OutboundRequest,
  maxAnswerBytes: number,
): Promise<OutboundAnswer> => {
  const outgoing = openRequest({
    createConnection: () => secure,
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      ...request.headers,
      host: url.host,
      connection: 'close',
      'content-length': Buffer.byteLength(request.body),
    },
  })
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  outgoing.once('response', resolve)
  outgoing.on('error', (error) => reject(closed(error)))
  outgoing.once('close', () => reject(closed()))
  outgoing.end(request.body)
  const answer = await answered
  try {
    return { status: answer.statusCode ?? 0, body: await readAtMost(answer, maxAnswerBytes) }
  } catch (error) {
    throw closed(error)
  } finally {
    outgoing.destroy()
  }
}
