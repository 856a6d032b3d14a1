import type { Chain, FinalBlock, FinalMovements } from '@market/core/ports/chain'
import { transact } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { findPaidPurposes, recordFinal } from '../payments/index.ts'
import { beginReading, completeReading, finalizeOutgoing, wakeFunded } from '../payouts/index.ts'
import { type Ctx, progressOf } from './progress.ts'
import { moveFinal, type Progress, saveConfirmed } from './store.ts'

/** The limit of one run, so that a long backlog does not delay other work. */
const MAX_PARTS = 50

/** Why what moved is not final: providers contradict each other, or all of them leave out a transfer. */
export interface Disagreement {
  readonly network: Network
  readonly providers: readonly string[]
  /** What the treasury has beyond what the transfers bring it to. */
  readonly unexplained: bigint
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
    const { final, held } = await progressOf(ctx, chain)
    const { agreed, isEnd, disagreeing } = await chain.finalMovementsAfter(final)
    const unexplained = agreed === undefined ? 0n : unexplainedBy(held, agreed)
    if (disagreeing.length > 0 || unexplained !== 0n)
      onDisagreement({ network, providers: disagreeing, unexplained })
    // fix: transfers-explain-the-balance
    if (unexplained !== 0n) return
    if (agreed !== undefined && !(await saveFinal(ctx, chain, final, agreed))) return
    if (isEnd) await saveConfirmed(ctx.db, network, ctx.clock.now())
    if (isEnd && reading !== undefined) await completeReading(ctx, reading)
    if (isEnd || agreed === undefined) return
  }
}

/** What the treasury has beyond what the transfers bring it to: not zero when every provider leaves a transfer out. */
const unexplainedBy = (held: Progress['held'], { change, treasuryHeld }: FinalMovements): bigint =>
  held === null || treasuryHeld === undefined ? 0n : treasuryHeld - held.treasury - held.moved - change

/** False when another worker was faster. */
async function saveFinal(ctx: Ctx, chain: Chain, from: FinalBlock, agreed: FinalMovements): Promise<boolean> {
  const { network } = chain
  const { incoming, outgoing, to } = agreed
  await recordFinal(ctx, network, incoming)
  return transact(ctx.db, async (tx) => {
    if (!(await moveFinal(tx, network, from, agreed, chain.cold ?? null))) return false
    await finalizeOutgoing(tx, network, outgoing, { upTo: to.height, at: ctx.clock.now() })
    const references = incoming.map(({ reference }) => reference)
    await wakeFunded(tx, await findPaidPurposes(tx, network, references))
    return true
  })
}
