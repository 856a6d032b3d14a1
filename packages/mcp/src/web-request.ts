import type { FastifyRequest } from 'fastify'

/** The headers that the protocol reads. */
const NAMES = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** Both, because the responses are plain JSON also for clients that do not say what they accept. */
const ACCEPT: [string, string] = ['accept', 'application/json, text/event-stream']

/** The request as the SDK takes it, without its body, which is parsed already. Copying all of it costs more CPU. */
export function webRequest({ headers, url }: FastifyRequest, signal: AbortSignal): Request {
  const sent = NAMES.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  return new Request(new URL(url, 'http://localhost'), { method: 'POST', headers: [ACCEPT, ...sent], signal })
}
