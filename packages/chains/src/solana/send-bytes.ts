import { unavailable } from '@market/kernel/api-error'
import type { SolanaNode, SolanaNodes } from './nodes.ts'

/** A node that has the bytes already says so as an error. */
const ALREADY_THERE = /already (?:been )?processed/i

const sendTo = async (node: SolanaNode, bytes: string): Promise<void> => {
  try {
    await node.ask({
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'sendTransaction',
        // A simulation could reject what a later block would take; the outcome is read from the chain alone.
        params: [bytes, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
      },
    })
  } catch (failure) {
    if (!(failure instanceof Error && ALREADY_THERE.test(failure.message))) throw failure
  }
}

/** The address of a node may carry a key. */
const withoutAddress = (failure: unknown): string =>
  (failure instanceof Error ? failure.message : String(failure)).replaceAll(/\bhttps?:\/\/\S+/gi, 'the node')

/** To every node at once: the same bytes take effect once, however often they arrive. */
export const sendBytes = async (nodes: SolanaNodes, bytes: string): Promise<void> => {
  const sent = await Promise.allSettled(nodes.each.map((node) => sendTo(node, bytes)))
  if (sent.some(({ status }) => status === 'fulfilled')) return
  const failures = sent.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  const reasons = failures.map(withoutAddress).join('; ')
  throw unavailable(`No Solana node took the payment (${reasons})`, new AggregateError(failures))
}
