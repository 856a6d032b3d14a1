import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { postJson } from '@market/testing/post-json'
import type { SendRequest } from './send-request.ts'
import { evmAsOf } from './stale-evm.ts'
import { staleSolana } from './stale-solana.ts'

/** How a node behaves just now. */
export interface RelayFaults {
  /** The share of requests that fail or hang; of half of them the node hears all the same. */
  readonly share: number
  /** The share of transactions that arrive after their sender's timeout. */
  readonly late: number
  /** By how much at least. */
  readonly lateMs: number
  /** So many blocks behind the truth; on Solana anything but zero means answers of before. */
  readonly behind: number
  /** Says that the newest block is final. EVM only. */
  readonly isFinalEarly: boolean
}

export interface Relay {
  readonly url: string
  readonly faults: RelayFaults
  /** How many transactions were to be sent through it so far. */
  sends(): number
  /** How many of them are late and still on their way. */
  onTheWay(): number
  set(faults: Partial<RelayFaults>): void
  stop(): Promise<void>
}

export const HEALTHY: RelayFaults = { share: 0, late: 0, lateMs: 1_500, behind: 0, isFinalEarly: false }
/** A part of every relay's address, as providers put their keys there: no process may write it anywhere. */
export const PROVIDER_KEY = 'the-key-of-the-provider'

const LATER_MS = 1_500
const SENDS = /"(?:sendTransaction|eth_sendRawTransaction)"/
const JSON_TYPE = { 'content-type': 'application/json' }

/** A real server before a real node, which can be slow, wrong, late and old as providers are. */
export async function startRelay(
  target: string,
  kind: 'evm' | 'solana',
  random: () => number,
): Promise<Relay> {
  const ask: SendRequest = (body) => postJson(target, body)
  const remembering = staleSolana(ask)
  let faults = HEALTHY
  let sends = 0
  let onTheWay = 0

  const answerOf = (body: string): Promise<string> => {
    if (kind === 'solana') return remembering(body, faults.behind > 0)
    if (faults.isFinalEarly) return ask(body.replaceAll('"finalized"', '"latest"'))
    return faults.behind === 0 ? ask(body) : evmAsOf(ask, body, faults.behind)
  }
  /** Hangs until the caller goes away, breaks, or says that it is busy. */
  const goWrong = (response: ServerResponse) => {
    const dice = random()
    if (dice < 0.5) return
    if (dice < 0.75) response.socket?.resetAndDestroy()
    else response.writeHead(503).end('busy')
  }
  const server = createServer(async (request, response) => {
    try {
      const body = Buffer.concat(await request.toArray()).toString()
      const isSend = SENDS.test(body)
      if (isSend) sends++
      if (isSend && random() < faults.late) {
        onTheWay++
        wait(faults.lateMs + random() * LATER_MS, undefined, { ref: false })
          .then(() => ask(body))
          .catch(() => undefined)
          .finally(() => onTheWay--)
        return
      }
      const isWrong = random() < faults.share
      if (isWrong && random() < 0.5) return goWrong(response)
      const answer = await answerOf(body)
      if (isWrong) return goWrong(response)
      response.writeHead(200, JSON_TYPE).end(answer)
    } catch {
      // The caller was killed, or the node is gone.
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/${PROVIDER_KEY}`,
    get faults() {
      return faults
    },
    sends: () => sends,
    onTheWay: () => onTheWay,
    set: (change) => {
      faults = { ...faults, ...change }
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
