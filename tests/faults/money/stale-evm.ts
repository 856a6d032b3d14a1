import type { SendRequest } from './send-request.ts'

type Json = Record<string, unknown>

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** How far `safe` and `finalized` lie behind the newest block of the local chains. */
const TAGS: Readonly<Record<string, number>> = { latest: 0, pending: 0, safe: 8, finalized: 16 }
/** Methods whose last parameter names a block. */
const AT_A_BLOCK = new Set(['eth_call', 'eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'])
/** Methods whose answer says in which block it is. */
const IN_A_BLOCK = new Set(['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getBlockByHash'])

const hex = (height: number): string => `0x${Math.max(0, height).toString(16)}`
const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null

const heightOf = (tag: unknown, head: number): number =>
  typeof tag === 'string' && tag.startsWith('0x') ? Number(tag) : head - (TAGS[String(tag)] ?? 0)

const earlier = (a: string, b: string): string => (Number(a) < Number(b) ? a : b)

/** The same question, as a node that knows no block above `head` would understand it. */
function asked(call: Call, head: number): Call | { readonly known: unknown } {
  const { method, params } = call
  if (method === 'eth_blockNumber') return { known: hex(head) }
  if (AT_A_BLOCK.has(method))
    return { ...call, params: [...params.slice(0, -1), hex(heightOf(params.at(-1), head))] }
  if (method === 'eth_getBlockByNumber') {
    const height = heightOf(params[0], head)
    return height > head ? { known: null } : { ...call, params: [hex(height), ...params.slice(1)] }
  }
  if (method === 'eth_getLogs') {
    const [filter] = params as [{ fromBlock: string; toBlock: string }]
    if (Number(filter.fromBlock) > head) return { known: [] }
    return { ...call, params: [{ ...filter, toBlock: earlier(filter.toBlock, hex(head)) }] }
  }
  return call
}

/** What is in a later block, or in none yet, is unknown to such a node. */
const known = (method: string, result: unknown, head: number): unknown => {
  if (!IN_A_BLOCK.has(method) || !isRecord(result)) return result
  const height = result['blockNumber'] ?? result['number']
  return typeof height === 'string' && Number(height) <= head ? result : null
}

/** Answers as a node would that is so many blocks behind: consistent in itself, and old. */
export async function evmAsOf(ask: SendRequest, body: string, behind: number): Promise<string> {
  const given: unknown = JSON.parse(body)
  const calls = (Array.isArray(given) ? given : [given]) as Call[]
  const newest = JSON.parse(await ask('{"jsonrpc":"2.0","id":0,"method":"eth_blockNumber","params":[]}')) as {
    result: string
  }
  const head = Math.max(0, Number(newest.result) - behind)
  const answers = await Promise.all(
    calls.map(async (call) => {
      const question = asked(call, head)
      if ('known' in question) return { jsonrpc: '2.0', id: call.id, result: question.known }
      const answer = JSON.parse(await ask(JSON.stringify({ jsonrpc: '2.0', ...question }))) as Json
      return 'result' in answer ? { ...answer, result: known(call.method, answer['result'], head) } : answer
    }),
  )
  return JSON.stringify(Array.isArray(given) ? answers : answers[0])
}
