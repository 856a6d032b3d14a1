import { MINUTE } from '@market/kernel/clock'
import type { Node } from '../nodes/node-pool.ts'

export type Call = readonly [method: string, ...params: unknown[]]

/** The error object of a JSON-RPC response. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

export type RpcResponse = { readonly result: unknown } | { readonly error: RpcError }

/** Larger than any page of logs or block that is requested. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const readText = async (response: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const parseResponse = (body: unknown): RpcResponse => {
  if (!isRecord(body)) throw new Error('the response to a call is missing')
  const error = body['error']
  if (isRecord(error)) {
    const { code, message, data } = error
    return { error: { code: Number(code), message: String(message), data } }
  }
  if (body['result'] === undefined) throw new Error('the response has no result')
  return { result: body['result'] }
}

/** Sends all calls in one request, so that a load balancer forwards them to the same node. */
export const sendBatch = async (
  node: Node,
  calls: readonly Call[],
  maxBytes = MAX_RESPONSE_BYTES,
): Promise<readonly RpcResponse[]> => {
  const response = await fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))),
    redirect: 'error',
    signal: node.signal,
  })
  const text = await readText(response, maxBytes)
  if (!response.ok) throw new Error(`the node returned HTTP ${response.status}`)
  const body: unknown = JSON.parse(text)
  if (!Array.isArray(body)) throw new Error('the response is not a batch')
  // Batch responses can be in any order.
  const byId = new Map(body.map((one: unknown) => [isRecord(one) ? one['id'] : undefined, one]))
  return calls.map((_, id) => parseResponse(byId.get(id)))
}

/** A node is asked again for its chain after this time, and after each failure. */
const CHAIN_KNOWN_MS = 1 * MINUTE

/** The first batch of a node includes eth_chainId, so that responses from another chain are rejected. */
export const callEach = async (
  node: Node,
  chainId: number,
  calls: readonly Call[],
  maxBytes?: number,
): Promise<readonly RpcResponse[]> => {
  if (performance.now() < node.chain.knownUntil) return sendBatch(node, calls, maxBytes)
  const [chain, ...responses] = await sendBatch(node, [['eth_chainId'], ...calls], maxBytes)
  const id = resultOf(chain)
  if (typeof id !== 'string' || Number(id) !== chainId)
    throw new Error(`the node is on chain ${String(id)}, not on ${chainId}`)
  node.chain.knownUntil = performance.now() + CHAIN_KNOWN_MS
  return responses
}

export const resultOf = (response: RpcResponse | undefined): unknown => {
  if (response === undefined) throw new Error('the response to a call is missing')
  if ('error' in response)
    throw new Error(`the node returned error ${response.error.code}: ${response.error.message}`)
  return response.result
}

/** The results of all calls. Throws when one of them has an error. */
export const callAll = async (node: Node, chainId: number, calls: readonly Call[]): Promise<unknown[]> =>
  (await callEach(node, chainId, calls)).map(resultOf)

const MAX_BATCH_SIZE = 50

/** Sends any number of calls in batches of a size that nodes accept. */
export const callInBatches = async (
  node: Node,
  chainId: number,
  calls: readonly Call[],
): Promise<readonly unknown[]> => {
  const results: unknown[] = []
  for (let start = 0; start < calls.length; start += MAX_BATCH_SIZE)
    results.push(...(await callAll(node, chainId, calls.slice(start, start + MAX_BATCH_SIZE))))
  return results
}
