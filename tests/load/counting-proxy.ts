import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CountingProxy = Awaited<ReturnType<typeof startCountingProxy>>

/** Requests by the methods that each contains, in order: the same methods are usually the same code. */
export type Counts = ReadonlyMap<string, number>

/** A provider in front of a node: forwards every byte and counts the calls. */
export async function startCountingProxy(target: string) {
  const requests = new Map<string, number>()
  const server = createServer(async (request, response) => {
    try {
      const body = Buffer.concat(await request.toArray())
      const calls = [JSON.parse(body.toString())].flat() as { readonly method: string }[]
      const methods = calls.map(({ method }) => method).join(' ')
      requests.set(methods, (requests.get(methods) ?? 0) + 1)
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(target, { method: 'POST', headers, body: new Uint8Array(body) })
      response.writeHead(reply.status, headers).end(await reply.text())
    } catch {
      // The node stopped.
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: (): Counts => new Map(requests),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** What was asked since then. */
export function since(before: Counts, now: Counts): Counts {
  const asked = [...now].map(([methods, count]) => [methods, count - (before.get(methods) ?? 0)] as const)
  return new Map(asked.filter(([, count]) => count > 0))
}

/** What several providers were asked together. */
export function sumOf(all: readonly Counts[]): Counts {
  const sum = new Map<string, number>()
  for (const counts of all)
    for (const [methods, count] of counts) sum.set(methods, (sum.get(methods) ?? 0) + count)
  return sum
}

export const callsIn = (counts: Counts): number =>
  [...counts].reduce((sum, [methods, count]) => sum + count * methods.split(' ').length, 0)

export function byMethod(counts: Counts): [method: string, calls: number][] {
  const calls = new Map<string, number>()
  for (const [methods, count] of counts)
    for (const method of methods.split(' ')) calls.set(method, (calls.get(method) ?? 0) + count)
  return [...calls].toSorted(([, a], [, b]) => b - a)
}

/** Made to send a payout: its simulation, fees, gas, nonce, the coin that pays for it, and the transaction itself. */
const SENDING =
  /estimateGas|maxPriorityFee|eth_getBalance|eth_getTransactionCount|sendRawTransaction|sendTransaction|simulateTransaction|getLatestBlockhash|getFeeForMessage|getRecentPrioritizationFees/
const SIMULATION = /^(?:eth_chainId )?eth_call(?: eth_call)*$/

export const sending = (counts: Counts): Counts =>
  new Map([...counts].filter(([methods]) => SENDING.test(methods) || SIMULATION.test(methods)))
