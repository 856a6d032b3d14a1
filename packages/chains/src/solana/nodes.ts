import { unavailable } from '@market/kernel/api-error'
import {
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  type Rpc,
  type RpcTransport,
  type SolanaRpcApi,
} from '@solana/kit'

export type SolanaRpc = Rpc<SolanaRpcApi>
type Request = Parameters<RpcTransport>[0]

export interface SolanaNode {
  /** For messages: never the whole URL, which may carry a key. */
  readonly name: string
  readonly rpc: SolanaRpc
  readonly ask: RpcTransport
}

export interface SolanaNodes {
  /** Each question goes to the first node that answers it. */
  readonly rpc: SolanaRpc
  /** One by one, for what must come from a single node or from several. */
  readonly each: readonly SolanaNode[]
}

const DEFAULT_TIMEOUT_MS = 3_000
const PASSED_OVER_MS = 5_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const nobodyAnswered = (failures: readonly unknown[]) =>
  unavailable('Solana cannot be reached: try again', new AggregateError(failures, 'no Solana node answered'))

/**
 * Throws unless the node gave a result. Our questions are well formed, so an error in the answer is this node's
 * trouble (behind, pruned, limited) and another node may do better.
 */
const transportOf = (url: string, name: string, timeoutMs: number): RpcTransport => {
  const transport: RpcTransport = createDefaultRpcTransport({ url })
  return async <T>(request: Request) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
    const answer = await transport<T>({ ...request, signal })
    if (isRecord(answer) && 'result' in answer) return answer
    const { code, message } = isRecord(answer) && isRecord(answer['error']) ? answer['error'] : {}
    throw new Error(`${name} gave no result: ${String(code)} ${String(message)}`)
  }
}

const openNode = (url: string, index: number, timeoutMs: number): SolanaNode => {
  const name = `Solana node ${index + 1} (${new URL(url).hostname})`
  const ask = transportOf(url, name, timeoutMs)
  const alone: RpcTransport = async <T>(request: Request) => {
    try {
      return await ask<T>(request)
    } catch (failure) {
      throw nobodyAnswered([failure])
    }
  }
  return { name, ask, rpc: createSolanaRpcFromTransport(alone) }
}

/** The nodes in the order to be asked: those that failed a moment ago come last. */
const failover = (each: readonly SolanaNode[]): RpcTransport => {
  const passedOverUntil = new Map<SolanaNode, number>()
  const isPassedOver = (node: SolanaNode) => (passedOverUntil.get(node) ?? 0) > performance.now()
  return async <T>(request: Request) => {
    const failures: unknown[] = []
    const inOrder = [...each.filter((node) => !isPassedOver(node)), ...each.filter(isPassedOver)]
    for (const node of inOrder) {
      try {
        return await node.ask<T>(request)
      } catch (failure) {
        failures.push(failure)
        passedOverUntil.set(node, performance.now() + PASSED_OVER_MS)
      }
    }
    throw nobodyAnswered(failures)
  }
}

/** Trouble in asking throws `unavailable`; whatever comes back is an answer. */
export const solanaNodes = (settings: {
  readonly rpcUrls: readonly string[]
  readonly timeoutMs?: number
}): SolanaNodes => {
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const each = settings.rpcUrls.map((url, index) => openNode(url, index, timeoutMs))
  return { each, rpc: createSolanaRpcFromTransport(failover(each)) }
}
