import { ApiError, unavailable } from '@market/kernel/api-error'
import { largest } from '../bigints.ts'
import type { SolanaNodes } from './nodes.ts'
import type { Lifetime } from './sign-transaction.ts'

/** How many blocks a blockhash is valid. */
export const BLOCKHASH_LIFETIME = 150n

/** The height of each reachable node. Throws unless as many providers as required respond. */
const readEachHeight = async ({ each }: SolanaNodes, minProviders: number): Promise<bigint[]> => {
  const results = await Promise.allSettled(
    each.map(async ({ rpc, provider }) => ({
      provider,
      height: await rpc.getBlockHeight({ commitment: 'processed' }).send(),
    })),
  )
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  const fault = failures.find((failure) => !(failure instanceof ApiError))
  if (fault !== undefined) throw fault
  const known = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (new Set(known.map(({ provider }) => provider)).size < minProviders)
    throw unavailable(
      'Too few Solana providers returned their block height. Try again later.',
      new AggregateError(failures),
    )
  return known.map(({ height }) => height)
}

/**
 * A blockhash for a new transaction, and the last height at which it can be executed. After that height the payment is
 * signed again, so a provider that reports a height that is too low would cause a second payment. The blockhash exists
 * already, so it is valid for at most 150 blocks after the highest block of any node. A later height is always safe.
 */
export const readLifetime = async (nodes: SolanaNodes, minProviders: number): Promise<Lifetime> => {
  const { value } = await nodes.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  // The heights are read after the blockhash, so that an honest node is not behind it.
  const highest = largest(await readEachHeight(nodes, minProviders))
  return {
    blockhash: value.blockhash,
    lastValidBlockHeight: largest([value.lastValidBlockHeight, highest + BLOCKHASH_LIFETIME]),
  }
}
