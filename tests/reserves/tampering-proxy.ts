import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// biome-ignore lint/suspicious/noExplicitAny: the tampered responses have any shape
export type Json = any
export type Change = (path: string, body: Json) => void

/** The API as a dishonest operator would serve it. */
export async function startProxy(url: string, change: Change) {
  const server = createServer(async (request, response) => {
    const { authorization } = request.headers
    const answer = await fetch(`${url}${request.url}`, { headers: authorization ? { authorization } : {} })
    const body = await answer.json()
    change(request.url ?? '', body)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Changes the data of the responses of one path. */
export const onPath =
  (part: string, tamper: (data: Json) => void): Change =>
  (path, body) => {
    if (path.startsWith(part)) tamper(body.data)
  }
