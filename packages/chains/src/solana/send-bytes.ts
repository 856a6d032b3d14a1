import { unavailable } from '@market/kernel/api-error'
import type { SolanaNode, SolanaNodes } from './nodes.ts'

/** Nodes return an error for a transaction that they already have. */
const ALREADY_PROCESSED = /already (?:been )?processed/i

const sendTo = async (node: SolanaNode, bytes: string): Promise<void> => {
  try {
    await node.transport({
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'sendTransaction',
        // A simulation could reject a transaction that a later block would accept. The outcome is read from the chain.
        params: [bytes, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
      },
    })
  } catch (failure) {
    if (!(failure instanceof Error && ALREADY_PROCESSED.test(failure.message))) throw failure
  }
}

/** The URL of a node may contain an API key. */
const messageWithoutUrl = (failure: unknown): string =>
  (failure instanceof Error ? failure.message : String(failure)).replaceAll(/\bhttps?:\/\/\S+/gi, 'the node')

/** Sends to every node. A transaction is executed at most once, however often it is sent. */
export const sendBytes = async (nodes: SolanaNodes, bytes: string): Promise<void> => {
  const sent = await Promise.allSettled(nodes.each.map((node) => sendTo(node, bytes)))
  if (sent.some(({ status }) => status === 'fulfilled')) return
  const failures = sent.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  const reasons = failures.map(messageWithoutUrl).join('; ')
  throw unavailable(`No Solana node accepted the transaction (${reasons})`, new AggregateError(failures))
}
