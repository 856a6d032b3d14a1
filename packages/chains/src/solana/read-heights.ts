import { ApiError, unavailable } from '@market/kernel/api-error'
import { largest } from '../nodes/largest.ts'
import type { SolanaNode, SolanaNodes } from './nodes.ts'
import { EXPIRY_MARGIN } from './observe-payout.ts'

interface Heights {
  readonly final: bigint
  readonly finalSlot: bigint
  readonly horizon: bigint
}

const heightsAt = async ({ rpc }: SolanaNode): Promise<Heights> => {
  const [{ absoluteSlot, blockHeight }, { value }] = await Promise.all([
    rpc.getEpochInfo({ commitment: 'finalized' }).send(),
    // The newest blockhash there is: whoever signed until now has signed with this one or an earlier one.
    rpc.getLatestBlockhash({ commitment: 'processed' }).send(),
  ])
  return {
    final: blockHeight,
    finalSlot: absoluteSlot,
    horizon: value.lastValidBlockHeight + EXPIRY_MARGIN,
  }
}

/**
 * The most cautious answer over all nodes that give one: final is what is final to each of them, and the horizon is the
 * farthest that any of them tells.
 */
export const readHeights = async (nodes: SolanaNodes): Promise<Heights> => {
  const answers = await Promise.allSettled(nodes.each.map(heightsAt))
  const failures = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as unknown] : [],
  )
  const fault = failures.find((failure) => !(failure instanceof ApiError))
  if (fault !== undefined) throw fault
  const known = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const [lowest] = known.toSorted((a, b) => (a.final < b.final ? -1 : 1))
  if (lowest === undefined)
    throw unavailable('No Solana node tells how high it stands: try again', new AggregateError(failures))
  return { ...lowest, horizon: largest(known.map(({ horizon }) => horizon)) }
}
