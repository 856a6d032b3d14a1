import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CLIENTS_CLOSE } from '@market/testing/idle-connections'

export interface RoundRobin {
  readonly url: string
  /** How many requests each server got. */
  readonly counts: readonly number[]
  /** Statuses of all responses. */
  readonly statuses: readonly number[]
  stop(): Promise<void>
}

/** What a proxy must not forward: it describes one connection, and the proxy has two. */
const OF_ONE_CONNECTION = ['connection', 'keep-alive']

const withoutConnection = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.includes(name)))

/** An HTTP proxy that sends every request to the next server, also within one connection. */
export async function startRoundRobin(
  urls: readonly string[],
  headers: Readonly<Record<string, string>> = {},
  port = 0,
): Promise<RoundRobin> {
  const counts = urls.map(() => 0)
  const statuses: number[] = []
  let next = 0
  const server = createServer(CLIENTS_CLOSE, (incoming, outgoing) => {
    const at = next++ % urls.length
    counts[at] = (counts[at] ?? 0) + 1
    const { hostname, port } = new URL(urls[at] ?? '')
    const { url: path, method } = incoming
    // A new connection each time: an idle one may be closed by its server just when it is used again.
    const target = { hostname, port, path, method, agent: false as const }
    const sent = request({ ...target, headers: { ...withoutConnection(incoming.headers), ...headers } })
    sent.on('error', () => outgoing.destroy())
    sent.on('response', (response) => {
      statuses.push(response.statusCode ?? 0)
      outgoing.writeHead(response.statusCode ?? 0, withoutConnection(response.headers))
      response.pipe(outgoing)
    })
    incoming.pipe(sent)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    statuses,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
