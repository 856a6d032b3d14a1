import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { testCertificates } from '@market/testing/certificates'
import { outboundTo } from './settings.ts'

/** One request as it came in, byte for byte. */
export interface Call {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawBody: Buffer
  readonly deliveryId: string
  /** When the whole request had arrived. */
  readonly arrivedAt: number
}

/** Sends a response, or fails in some way. */
export type Answer = (response: ServerResponse, call: Call) => void

export const ok: Answer = (response) => void response.end('{}')
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end('{}')
export const hang: Answer = () => {}
export const shut: Answer = (response) => void response.socket?.destroy()

export type WebhookReceiver = Awaited<ReturnType<typeof startReceiver>>

/** Endpoints under `*.hooks.example`: records every call and sends the response set for its host. */
export async function startReceiver() {
  const { ca, key, cert } = await testCertificates(['*.hooks.example'])
  const calls: Call[] = []
  const answers = new Map<string, Answer>()
  let connections = 0
  const server = createServer({ key, cert }, async (request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(request, 'end').catch(() => {})
    const host = request.headers.host ?? ''
    const call: Call = {
      host,
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rawBody: Buffer.concat(chunks),
      deliveryId: String(request.headers['x-market-delivery-id']),
      arrivedAt: Date.now(),
    }
    calls.push(call)
    const answer = answers.get(host) ?? ok
    answer(response, call)
  })
  server.on('connection', () => {
    connections += 1
  })
  server.on('secureConnection', (socket: Socket) => socket.on('error', () => {}))
  server.listen(0, '127.0.0.1', 1_024)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { settings, remove } = outboundTo({ port, ca })
  return {
    port,
    settings,
    calls,
    answers,
    connections: () => connections,
    callsTo: (host: string) => calls.filter((call) => call.host === host),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      remove()
    },
  }
}
