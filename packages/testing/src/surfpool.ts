import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface Surfpool {
  readonly url: string
  readonly genesisHash: string
  fundSol(address: string, lamports: bigint): Promise<void>
  /** A bare JSON-RPC call, Surfpool's own `surfnet_…` among them. */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}

interface Surfnet {
  readonly rpcUrl: string
  fundSol(address: string, lamports: number): void
  drainEvents(): readonly unknown[]
  stop(): void
}

interface SurfnetClass {
  startWithConfig(config: Readonly<Record<string, unknown>>): Surfnet
}

type Json = Record<string, unknown>
const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null

const FINALIZED_BEHIND = 31
/** Before this the first blockhashes are not yet those of the chain. */
const FIRST_HEIGHT = 5
/** The node stops for good when about a thousand of its events, one per slot, are not taken. */
const DRAIN_EVERY_MS = 100
const ADDON = '@solana/surfpool-linux-x64-gnu'

const post = async (url: string, body: string): Promise<string> => {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body })).text()
}

const ask = async (url: string, method: string, params: readonly unknown[]): Promise<unknown> => {
  const answer: unknown = JSON.parse(
    await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
  )
  if (isRecord(answer) && 'result' in answer) return answer['result']
  throw new Error(`${method}: ${JSON.stringify(answer)}`)
}

/** Surfpool gives the time of a block in seconds / 1000, except where it is asked for alone. */
const repairTransaction = async (url: string, result: unknown): Promise<unknown> =>
  isRecord(result) ? { ...result, blockTime: await ask(url, 'getBlockTime', [result['slot']]) } : result

/** Surfpool gives the newest epoch info whatever commitment is asked for. */
const repairEpoch = (result: unknown, params: unknown): unknown => {
  const [config] = Array.isArray(params) ? params : []
  if (!isRecord(result) || !isRecord(config) || config['commitment'] !== 'finalized') return result
  const height = Math.max(0, Number(result['blockHeight']) - FINALIZED_BEHIND)
  return { ...result, absoluteSlot: Number(result['absoluteSlot']) - FINALIZED_BEHIND, blockHeight: height }
}

/** Every other answer passes as it is: read and written again, a number above 2^53 would change. */
const relay = async (url: string, body: string): Promise<string> => {
  const { method, params } = JSON.parse(body) as { readonly method?: string; readonly params?: unknown }
  const text = await post(url, body)
  if (method !== 'getTransaction' && method !== 'getEpochInfo') return text
  const answer: unknown = JSON.parse(text)
  if (!isRecord(answer) || !('result' in answer)) return text
  const { result } = answer
  const repaired =
    method === 'getTransaction' ? await repairTransaction(url, result) : repairEpoch(result, params)
  return JSON.stringify({ ...answer, result: repaired })
}

/** A way to the node that gives the answers a real cluster would give. */
const startRepairs = async (url: string) => {
  const server = createServer(async (request, response) => {
    try {
      const answer = await relay(url, Buffer.concat(await request.toArray()).toString())
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    } catch {
      // The node went away: to the caller, the connection breaks.
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server, url: `http://127.0.0.1:${port}` }
}

/** A real Solana node of its own in this process, offline. A blockhash lives for 150 slots. */
export const startSurfpool = async ({ slotTimeMs }: { readonly slotTimeMs: number }): Promise<Surfpool> => {
  const { Surfnet } = createRequire(import.meta.url)(ADDON) as { readonly Surfnet: SurfnetClass }
  const node = Surfnet.startWithConfig({ offline: true, blockProductionMode: 'clock', slotTimeMs })
  const drain = setInterval(() => node.drainEvents(), DRAIN_EVERY_MS).unref()
  const { server, url } = await startRepairs(node.rpcUrl)
  while (Number(await ask(url, 'getBlockHeight', [{ commitment: 'processed' }])) < FIRST_HEIGHT) {
    await wait(slotTimeMs)
  }
  return {
    url,
    genesisHash: String(await ask(url, 'getGenesisHash', [])),
    fundSol: async (address, lamports) => node.fundSol(address, Number(lamports)),
    call: (method, ...params) => ask(url, method, params),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      clearInterval(drain)
      node.stop()
    },
  }
}
