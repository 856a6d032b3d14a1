import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { postJson } from './post-json.ts'

export interface Surfpool {
  readonly url: string
  readonly genesisHash: string
  fundSol(address: string, lamports: bigint): Promise<void>
  /** Sends a JSON-RPC call, including Surfpool's `surfnet_…` methods. */
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
/** Earlier blockhashes are not valid on the chain. */
const FIRST_HEIGHT = 5
/** The node stops when about 1,000 of its events, one per slot, are not consumed. */
const DRAIN_EVERY_MS = 100
const ADDON = '@solana/surfpool-linux-x64-gnu'

/** Surfpool has a build for Linux on x64 only; npm leaves it out elsewhere. */
export const hasSurfpool = (): boolean => {
  try {
    createRequire(import.meta.url).resolve(ADDON)
    return true
  } catch {
    return false
  }
}

const ask = async (url: string, method: string, params: readonly unknown[]): Promise<unknown> => {
  const answer: unknown = JSON.parse(
    await postJson(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
  )
  if (isRecord(answer) && 'result' in answer) return answer['result']
  throw new Error(`${method}: ${JSON.stringify(answer)}`)
}

/** The times of blocks, which never change. */
type BlockTimes = Map<unknown, unknown>

/** Surfpool returns block times divided by 1000, except in getBlockTime. */
const repairTransaction = async (url: string, times: BlockTimes, result: unknown): Promise<unknown> => {
  if (!isRecord(result)) return result
  const { slot } = result
  const blockTime = times.get(slot) ?? (await ask(url, 'getBlockTime', [slot]))
  times.set(slot, blockTime)
  return { ...result, blockTime }
}

/** Surfpool returns the newest epoch info for every commitment. */
const repairEpoch = (result: unknown, params: unknown): unknown => {
  const [config] = Array.isArray(params) ? params : []
  if (!isRecord(result) || !isRecord(config) || config['commitment'] !== 'finalized') return result
  const height = Math.max(0, Number(result['blockHeight']) - FINALIZED_BEHIND)
  return { ...result, absoluteSlot: Number(result['absoluteSlot']) - FINALIZED_BEHIND, blockHeight: height }
}

/** Other responses are forwarded unchanged, because parsing would change numbers above 2^53. */
const relay = async (url: string, times: BlockTimes, body: string): Promise<string> => {
  const { method, params } = JSON.parse(body) as { readonly method?: string; readonly params?: unknown }
  const text = await postJson(url, body)
  if (method !== 'getTransaction' && method !== 'getEpochInfo') return text
  const answer: unknown = JSON.parse(text)
  if (!isRecord(answer) || !('result' in answer)) return text
  const { result } = answer
  const repaired =
    method === 'getTransaction' ? await repairTransaction(url, times, result) : repairEpoch(result, params)
  return JSON.stringify({ ...answer, result: repaired })
}

/** A proxy that corrects the responses of the node to those of a real cluster. */
const startRepairs = async (url: string, wantedPort: number) => {
  const times: BlockTimes = new Map()
  const server = createServer(async (request, response) => {
    try {
      const answer = await relay(url, times, Buffer.concat(await request.toArray()).toString())
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    } catch {
      // The node stopped, so the connection of the caller is closed.
      response.destroy()
    }
  })
  server.listen(wantedPort, '127.0.0.1')
  await once(server, 'listening').catch(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  const { port } = server.address() as AddressInfo
  return { server, url: `http://127.0.0.1:${port}` }
}

/** Starts a Solana node in this process, offline; on a free port where the given one is taken. A blockhash is valid for 150 slots. */
export const startSurfpool = async ({
  slotTimeMs,
  port = 0,
}: {
  readonly slotTimeMs: number
  readonly port?: number
}): Promise<Surfpool> => {
  const { Surfnet } = createRequire(import.meta.url)(ADDON) as { readonly Surfnet: SurfnetClass }
  const node = Surfnet.startWithConfig({ offline: true, blockProductionMode: 'clock', slotTimeMs })
  const drain = setInterval(() => node.drainEvents(), DRAIN_EVERY_MS).unref()
  const { server, url } = await startRepairs(node.rpcUrl, port)
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
