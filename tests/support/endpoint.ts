import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { startTlsServer } from '@market/testing/tls-server'
import { outboundTo } from './settings.ts'

/** One request that the endpoint received. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Endpoint = Awaited<ReturnType<typeof startEndpoint>>

/** A server behind `hooks.example`; with `settings` the API treats it as a public one. */
export async function startEndpoint(names: readonly string[] = ['hooks.example']) {
  const received: Received[] = []
  let answer = (response: ServerResponse): void => void response.end('ok')
  const server = await startTlsServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      received.push({ path: request.url ?? '', headers: request.headers, body })
      answer(response)
    })
  }, names)
  const { settings, remove } = outboundTo(server)
  return {
    received,
    settings,
    connections: () => server.connections(),
    /** Sets the response of later requests. */
    answers: (how: (response: ServerResponse) => void) => {
      answer = how
    },
    stop: async () => {
      await server.stop()
      remove()
    },
  }
}

/** Checks a signature as the documentation describes. */
export function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-market-signature'])) ?? []
  return v1 === createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
}
