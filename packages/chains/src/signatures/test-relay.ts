import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Relay {
  readonly url: string
  /** How many questions came through. */
  readonly asked: () => number
  readonly stop: () => Promise<void>
}

const startServer = async (answer: RequestListener): Promise<Relay> => {
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => asked,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A counted way to a real node. */
export const relayTo = (url: string): Promise<Relay> =>
  startServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })

/** A node in trouble: always this answer. */
export const brokenNode = (status: number, body: string): Promise<Relay> =>
  startServer((request, response) => {
    request.resume()
    response.writeHead(status).end(body)
  })

/** A node that takes the question and sends only the beginning of an answer. */
export const silentNode = (): Promise<Relay> =>
  startServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"jsonrpc":"2.0",')
  })
