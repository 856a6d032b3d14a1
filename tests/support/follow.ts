import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { decideFinality, readNewBlocks } from '@market/money/follower'

/** Reads a network as the worker does: the newest blocks, and what is final. */
export async function follow(ctx: Needs<'db' | 'clock' | 'ids' | 'chains'>, network: Network): Promise<void> {
  await readNewBlocks(ctx, network)
  await decideFinality(ctx, network)
}
