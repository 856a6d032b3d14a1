import { unavailable } from '@market/kernel/api-error'
import {
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  type Rpc,
  type RpcTransport,
  type SolanaRpcApi,
} from '@solana/kit'
import { askProviders, type ProviderResponses, providerOf } from '../nodes/providers.ts'

export type SolanaRpc = Rpc<SolanaRpcApi>
type Request = Parameters<RpcTransport>[0]

export interface SolanaNode {
  /** For messages. The URL may contain an API key and must not appear in them. */
  readonly name: string
  readonly provider: string
  readonly rpc: SolanaRpc
  readonly transport: RpcTransport
}

export interface SolanaNodes {
  /** Sends each request to the first node that responds. */
  readonly rpc: SolanaRpc
  /** The individual nodes, for queries that need one specific node or several of them. */
  readonly each: readonly SolanaNode[]
}

const DEFAULT_TIMEOUT_MS = 3_000
const COOLDOWN_MS = 5_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const noNodeResponded = (failures: readonly unknown[]) =>
  unavailable(
    'Solana cannot be reached. Try again later.',
    new AggregateError(failures, 'no Solana node responded'),
  )

/**
 * Throws unless the node returned a result. Our requests are well formed, so an error is a problem of this node (lagging,
 * pruned, rate limited) and another node may succeed.
 */
const transportOf = (url: string, name: string, timeoutMs: number): RpcTransport => {
  const transport: RpcTransport = createDefaultRpcTransport({ url })
  return async <T>(request: Request) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
    const response = await transport<T>({ ...request, signal })
    if (isRecord(response) && 'result' in response) return response
    const { code, message } = isRecord(response) && isRecord(response['error']) ? response['error'] : {}
    throw new Error(`${name} returned no result: ${String(code)} ${String(message)}`)
  }
}

interface OpenSettings {
  readonly timeoutMs: number
  readonly providers: readonly string[] | undefined
}

const openNode = (url: string, index: number, { timeoutMs, providers }: OpenSettings): SolanaNode => {
  const { host, hostname } = new URL(url)
  const name = `Solana node ${index + 1} (${hostname})`
  const transport = transportOf(url, name, timeoutMs)
  const single: RpcTransport = async <T>(request: Request) => {
    try {
      return await transport<T>(request)
    } catch (failure) {
      throw noNodeResponded([failure])
    }
  }
  const provider = providerOf(providers, index, host)
  return { name, provider, transport, rpc: createSolanaRpcFromTransport(single) }
}

/** Tries the nodes in order. Nodes that failed recently are tried last. */
const failover = (each: readonly SolanaNode[]): RpcTransport => {
  const failedUntil = new Map<SolanaNode, number>()
  const failedRecently = (node: SolanaNode) => (failedUntil.get(node) ?? 0) > performance.now()
  return async <T>(request: Request) => {
    const failures: unknown[] = []
    const inOrder = [...each.filter((node) => !failedRecently(node)), ...each.filter(failedRecently)]
    for (const node of inOrder) {
      try {
        return await node.transport<T>(request)
      } catch (failure) {
        failures.push(failure)
        failedUntil.set(node, performance.now() + COOLDOWN_MS)
      }
    }
    throw noNodeResponded(failures)
  }
}

/** One response per provider. Where one provider is enough, the response of the first node that responds. */
export const askEnough = async <T>(
  { rpc, each }: SolanaNodes,
  minProviders: number,
  ask: (rpc: SolanaRpc) => Promise<T>,
): Promise<ProviderResponses<T>> => {
  if (minProviders > 1) return askProviders(each, (node) => ask(node.rpc))
  return { responses: [{ provider: each[0]?.provider ?? '', response: await ask(rpc) }], failures: [] }
}

/** Requests throw `unavailable` when no node returns a result. */
export const solanaNodes = (settings: {
  readonly rpcUrls: readonly string[]
  readonly providers?: readonly string[]
  readonly timeoutMs?: number
}): SolanaNodes => {
  const open = { timeoutMs: settings.timeoutMs ?? DEFAULT_TIMEOUT_MS, providers: settings.providers }
  const each = settings.rpcUrls.map((url, index) => openNode(url, index, open))
  return { each, rpc: createSolanaRpcFromTransport(failover(each)) }
}
