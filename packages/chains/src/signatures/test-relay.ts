import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Relay {
  readonly url: string
  /** Number of requests. */
  readonly requests: () => number
  readonly stop: () => Promise<void>
}

const startServer = async (respond: RequestListener): Promise<Relay> => {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Forwards requests to a real node and counts them. */
export const relayTo = (url: string): Promise<Relay> =>
  startServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const upstream = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    response.writeHead(upstream.status, { 'content-type': 'application/json' }).end(await upstream.text())
  })

/** A failing node that always returns this response. */
export const brokenNode = (status: number, body: string): Promise<Relay> =>
  startServer((request, response) => {
    request.resume()
    response.writeHead(status).end(body)
  })

/** A node that sends only the beginning of a response. */
export const stallingNode = (): Promise<Relay> =>
  startServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"jsonrpc":"2.0",')
  })
