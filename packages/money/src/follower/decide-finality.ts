import type { Chain, FinalBlock, FinalReading } from '@market/core/ports/chain'
import { transact } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { recordFinal } from '../payments/index.ts'
import {
  beginReading,
  completeReading,
  finalizeOutgoing,
  markTransfers,
  wakeFunded,
} from '../payouts/index.ts'
import { type Ctx, progressOf } from './progress.ts'
import { moveFinal } from './store.ts'

/** The limit of one run, so that a long backlog does not delay other work. */
const MAX_PARTS = 50

/** Providers that contradict each other about the final chain. */
export interface Disagreement {
  readonly network: Network
  readonly providers: readonly string[]
}

/**
 * Makes what moved final, for whole ranges of blocks on which enough providers agree. What was seen in such a block and is not
 * there is checked by itself (`recheckTransfers`). Several workers may run it at once.
 */
export async function decideFinality(
  ctx: Ctx,
  network: Network,
  onDisagreement: (disagreement: Disagreement) => void = () => undefined,
): Promise<void> {
  const chain = ctx.chains[network]
  if (chain === undefined) return
  // Where no newer blocks are read, this is the whole reading.
  const reading = chain.movementsAfter === undefined ? await beginReading(ctx, chain) : undefined
  for (let part = 0; part < MAX_PARTS; part++) {
    const { final } = await progressOf(ctx, chain)
    const { agreed, isEnd, disagreeing } = await chain.finalMovementsAfter(final)
    if (disagreeing.length > 0) onDisagreement({ network, providers: disagreeing })
    if (agreed !== undefined && !(await saveFinal(ctx, chain, final, agreed))) return
    if (isEnd && reading !== undefined) await completeReading(ctx, reading)
    if (isEnd || agreed === undefined) return
  }
}

/** False when another worker was faster. */
async function saveFinal(
  ctx: Ctx,
  chain: Chain,
  from: FinalBlock,
  { incoming, outgoing, to }: NonNullable<FinalReading['agreed']>,
): Promise<boolean> {
  const { network } = chain
  await recordFinal(ctx, network, incoming)
  const marked = await markTransfers(ctx, chain, outgoing)
  return transact(ctx.db, async (tx) => {
    if (!(await moveFinal(tx, network, { from, to }))) return false
    await finalizeOutgoing(tx, network, marked, { upTo: to.height, at: ctx.clock.now() })
    await wakeFunded(
      tx,
      network,
      incoming.map(({ reference }) => reference),
    )
    return true
  })
}
