import { ApiError, unavailable } from '@market/kernel/api-error'
import { largest } from '../bigints.ts'
import type { SolanaNode, SolanaNodes } from './nodes.ts'
import { EXPIRY_MARGIN } from './observe-payout.ts'

interface Heights {
  readonly final: bigint
  readonly horizon: bigint
}

const heightsAt = async ({ rpc }: SolanaNode): Promise<Heights> => {
  const [{ blockHeight }, { value }] = await Promise.all([
    rpc.getEpochInfo({ commitment: 'finalized' }).send(),
    // Every transaction signed until now uses this blockhash or an earlier one.
    rpc.getLatestBlockhash({ commitment: 'processed' }).send(),
  ])
  return {
    final: blockHeight,
    horizon: value.lastValidBlockHeight + EXPIRY_MARGIN,
  }
}

/**
 * The most cautious values over all reachable nodes: the lowest final height and the highest horizon. With `minProviders`, so
 * many must be reachable.
 */
export const readHeights = async (nodes: SolanaNodes, minProviders = 1): Promise<Heights> => {
  const results = await Promise.allSettled(nodes.each.map(heightsAt))
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  const fault = failures.find((failure) => !(failure instanceof ApiError))
  if (fault !== undefined) throw fault
  const known = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const [lowest] = known.toSorted((a, b) => (a.final < b.final ? -1 : 1))
  const providers = new Set(
    nodes.each.filter((_, n) => results[n]?.status === 'fulfilled').map(({ provider }) => provider),
  )
  if (lowest === undefined || providers.size < minProviders)
    throw unavailable(
      'Too few Solana nodes returned their block height. Try again later.',
      new AggregateError(failures),
    )
  return { final: lowest.final, horizon: largest(known.map(({ horizon }) => horizon)) }
}
