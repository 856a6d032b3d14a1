import { unavailable } from '@market/kernel/api-error'
import type { NodePool } from '../nodes/node-pool.ts'
import { callEach } from './rpc.ts'

/** The node has these bytes, or the nonce is used, mostly by these very bytes. Looking tells. */
const NOTHING_TO_DO =
  /already known|already imported|known transaction|already exists|nonce too low|nonce is too low/i

/** To every node: one that is cut off from the others would keep the bytes to itself. Done when the first has them. */
export const sendBytes = async (nodes: NodePool, chainId: number, bytes: string): Promise<void> => {
  const answers = nodes.askEach(async (node) => {
    const [answer] = await callEach(node, chainId, [['eth_sendRawTransaction', bytes]])
    const error = answer !== undefined && 'error' in answer ? answer.error : undefined
    const isDone = error === undefined || NOTHING_TO_DO.test(error.message)
    return isDone ? undefined : `${node.name} rejected with ${error.code} ${error.message.slice(0, 200)}`
  })
  const taken = answers.map(async (answer) => {
    const apiError = await answer
    if (apiError !== undefined) throw new Error(apiError)
  })
  try {
    await Promise.any(taken)
  } catch (failure) {
    const reasons = failure instanceof AggregateError ? failure.errors.map((one: Error) => one.message) : []
    throw unavailable(`No node took the transaction (${reasons.join('; ')})`, failure)
  }
}
