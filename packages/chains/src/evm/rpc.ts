import type { Node } from '../nodes/node-pool.ts'

export type Call = readonly [method: string, ...params: unknown[]]

/** What a node says when it does not answer the question itself. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

export type Answer = { readonly result: unknown } | { readonly error: RpcError }

/** A page of logs or a crowded block; more than this is not read. */
const MOST_BYTES = 32 * 1024 * 1024

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('the node answered too much')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const parseAnswer = (body: unknown): Answer => {
  if (!isRecord(body)) throw new Error('the node left a question out')
  const error = body['error']
  if (isRecord(error)) {
    const { code, message, data } = error
    return { error: { code: Number(code), message: String(message), data } }
  }
  if (body['result'] === undefined) throw new Error('the node answered without a result')
  return { result: body['result'] }
}

/** All calls in one request, so that a balancer in front of several nodes gives them all to one of them. */
export const askNode = async (node: Node, calls: readonly Call[]): Promise<readonly Answer[]> => {
  const response = await fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))),
    redirect: 'error',
    signal: node.signal,
  })
  const text = await readText(response)
  if (!response.ok) throw new Error(`the node answered ${response.status}`)
  const body: unknown = JSON.parse(text)
  if (!Array.isArray(body)) throw new Error('the node did not answer the questions')
  // The answers to a batch may come in any order.
  const byId = new Map(body.map((one: unknown) => [isRecord(one) ? one['id'] : undefined, one]))
  return calls.map((_, id) => parseAnswer(byId.get(id)))
}

/** The chain's id is asked along, every time: an answer from another chain is no answer. */
export const callEach = async (
  node: Node,
  chainId: number,
  calls: readonly Call[],
): Promise<readonly Answer[]> => {
  const [chain, ...answers] = await askNode(node, [['eth_chainId'], ...calls])
  const id = resultOf(chain)
  if (typeof id !== 'string' || Number(id) !== chainId)
    throw new Error(`the node is on chain ${String(id)}, not on ${chainId}`)
  return answers
}

export const resultOf = (answer: Answer | undefined): unknown => {
  if (answer === undefined) throw new Error('the node left a question out')
  if ('error' in answer) throw new Error(`the node rejected: ${answer.error.code} ${answer.error.message}`)
  return answer.result
}

/** The results alone; an error in any of them is trouble with the node. */
export const callAll = async (node: Node, chainId: number, calls: readonly Call[]): Promise<unknown[]> =>
  (await callEach(node, chainId, calls)).map(resultOf)

const MOST_CALLS_TOGETHER = 50

/** As many calls as there are, in requests of a size that nodes accept. */
export const callInParts = async (
  node: Node,
  chainId: number,
  calls: readonly Call[],
): Promise<readonly unknown[]> => {
  const results: unknown[] = []
  for (let start = 0; start < calls.length; start += MOST_CALLS_TOGETHER)
    results.push(...(await callAll(node, chainId, calls.slice(start, start + MOST_CALLS_TOGETHER))))
  return results
}
