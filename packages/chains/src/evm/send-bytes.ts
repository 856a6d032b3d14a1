import { unavailable } from '@market/kernel/api-error'
import type { NodePool } from '../nodes/node-pool.ts'
import { callEach } from './rpc.ts'

/** The node already has the transaction, or the nonce is used, usually by this transaction. Observing it tells which. */
const ALREADY_SENT =
  /already known|already imported|known transaction|already exists|nonce too low|nonce is too low/i

/** Sends to every node, in case one is disconnected from the network. Resolves when the first node accepts. */
export const sendBytes = async (nodes: NodePool, chainId: number, bytes: string): Promise<void> => {
  const rejections = nodes.queryAll(async (node) => {
    const [response] = await callEach(node, chainId, [['eth_sendRawTransaction', bytes]])
    const error = response !== undefined && 'error' in response ? response.error : undefined
    const isAccepted = error === undefined || ALREADY_SENT.test(error.message)
    return isAccepted
      ? undefined
      : `${node.name} returned error ${error.code}: ${error.message.slice(0, 200)}`
  })
  const accepted = rejections.map(async (rejection) => {
    const reason = await rejection
    if (reason !== undefined) throw new Error(reason)
  })
  try {
    await Promise.any(accepted)
  } catch (failure) {
    const reasons = failure instanceof AggregateError ? failure.errors.map((one: Error) => one.message) : []
    throw unavailable(`No node accepted the transaction (${reasons.join('; ')})`, failure)
  }
}
