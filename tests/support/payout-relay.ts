import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { postJson } from '@market/testing/post-json'

export interface FaultyRelay {
  readonly url: string
  /** The share of requests that fail or hang. */
  share: number
  /** Requests that match are rejected and not sent to the node. */
  held: RegExp | undefined
  readonly counts: { passed: number; failed: number; hung: number }
  /**
   * Leaves the next request that sends a transaction without a response, and resolves then. `before`: the node does not receive it;
   * `after`: the node has processed it.
   */
  holdSend(moment: 'before' | 'after'): Promise<void>
  stop(): Promise<void>
}

const SENDS = /"(?:sendTransaction|eth_sendRawTransaction)"/
const LATE_SHARE = 0.4

/**
 * A faulty HTTP server in front of a real node. Half of the failed requests still reach the node and only the response is
 * lost, and 40 % of the transactions are forwarded late.
 */
export const startFaultyRelay = async (target: string, random: () => number): Promise<FaultyRelay> => {
  const counts = { passed: 0, failed: 0, hung: 0 }
  let trap: { moment: 'before' | 'after'; held: () => void } | undefined
  const fail = (response: ServerResponse) => {
    if (random() < 0.5) {
      // Never responds, until the caller closes the connection.
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
        // The caller gets no response, and the transaction is sent after the caller's timeout.
        counts.hung += 1
        setTimeout(() => postJson(target, body).catch(() => undefined), 1_500 + random() * 1_500).unref()
        return
      }
      if (trap !== undefined && SENDS.test(body.toString())) {
        const { moment, held } = trap
        trap = undefined
        counts.hung += 1
        if (moment === 'after') await postJson(target, body)
        held()
        return
      }
      if (relay.held?.test(body.toString()) === true) {
        counts.failed += 1
        response.writeHead(503).end('busy')
        return
      }
      const isWrong = random() < relay.share
      if (isWrong && random() < 0.5) {
        fail(response)
        return
      }
      const answer = await postJson(target, body)
      if (isWrong) {
        fail(response)
        return
      }
      counts.passed += 1
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    } catch {
      // The caller was killed or the node has stopped.
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const relay: FaultyRelay = {
    // With an API key in the path, as real providers use.
    url: `http://127.0.0.1:${port}/the-key-of-the-provider`,
    share: 0,
    held: undefined,
    counts,
    holdSend: (moment) =>
      new Promise<void>((held) => {
        trap = { moment, held }
      }),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
