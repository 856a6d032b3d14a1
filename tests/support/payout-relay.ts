import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FaultyRelay {
  readonly url: string
  /** The share of requests that fail or hang. */
  share: number
  /** Requests that name one of these get no answer from the node, and never reach it. */
  held: RegExp | undefined
  readonly counts: { passed: number; failed: number; hung: number }
  stop(): Promise<void>
}

const SENDS = /"(?:sendTransaction|eth_sendRawTransaction)"/
const LATE_SHARE = 0.4

const ask = async (target: string, body: Buffer): Promise<string> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(target, { method: 'POST', headers, body: new Uint8Array(body) })
  return response.text()
}

/**
 * A real server before a real node. Of the requests that go wrong half reach the node all the same, and only its answer
 * is lost; and two of five transactions arrive late: the worst kinds of failure for whoever sends money.
 */
export const startFaultyRelay = async (target: string, random: () => number): Promise<FaultyRelay> => {
  const counts = { passed: 0, failed: 0, hung: 0 }
  const goWrong = (response: ServerResponse) => {
    if (random() < 0.5) {
      // Hangs: nothing is ever answered, until the caller goes away.
      counts.hung += 1
      return
    }
    counts.failed += 1
    if (random() < 0.5) response.socket?.resetAndDestroy()
    else response.writeHead(503).end('busy')
  }
  const server = createServer(async (request, response) => {
    try {
      const body = Buffer.concat(await request.toArray())
      if (relay.share > 0 && SENDS.test(body.toString()) && random() < LATE_SHARE) {
        // Nobody is told, and the money moves when everybody has stopped waiting for it.
        counts.hung += 1
        setTimeout(() => ask(target, body).catch(() => undefined), 1_500 + random() * 1_500).unref()
        return
      }
      if (relay.held?.test(body.toString()) === true) {
        counts.failed += 1
        response.writeHead(503).end('busy')
        return
      }
      const isWrong = random() < relay.share
      if (isWrong && random() < 0.5) {
        goWrong(response)
        return
      }
      const answer = await ask(target, body)
      if (isWrong) {
        goWrong(response)
        return
      }
      counts.passed += 1
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    } catch {
      // The caller was killed, or the node is gone.
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const relay: FaultyRelay = {
    // A key in the path, as providers have it.
    url: `http://127.0.0.1:${port}/the-key-of-the-provider`,
    share: 0,
    held: undefined,
    counts,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
