import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { currentEpoch } from '@market/database/epoch'
import { transact } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { beginEpoch, endAlive, findGuard, saveReading } from '../guards/store.ts'

type Ctx = Needs<'db' | 'clock'>

/** A reading of a treasury's chain that ends at its newest block. */
export interface Reading {
  readonly network: Network
  readonly databaseEpoch: string
  /** The final height before the reading, so that the reading shows everything up to it. Undefined once that is known. */
  readonly final: bigint | undefined
}

/** Begins a reading. It belongs to the database epoch in which it begins. */
export async function beginReading(ctx: Ctx, chain: Chain): Promise<Reading> {
  const { network } = chain
  const databaseEpoch = await currentEpoch(ctx.db)
  const known = await findGuard(ctx.db, network)
  if (known?.databaseEpoch !== databaseEpoch) {
    // The horizon is read after the epoch, so everything that an earlier epoch signed was signed before the horizon
    // and expires when they say.
    const { horizon, alive } = await chain.heights()
    const epoch = { network, databaseEpoch, horizon, alive, at: ctx.clock.now() }
    await transact(ctx.db, (tx) => beginEpoch(tx, epoch))
  }
  const isKnown = known?.databaseEpoch === databaseEpoch && known.comparedAt !== null
  const final = isKnown ? undefined : (await chain.heights()).final
  return { network, databaseEpoch, final }
}

/** The network is open for payouts once all that left its treasury in earlier database epochs is known. */
export async function completeReading(ctx: Ctx, reading: Reading): Promise<void> {
  const { network, databaseEpoch, final } = reading
  const at = ctx.clock.now()
  await transact(ctx.db, async (tx) => {
    const guard = await findGuard(tx, network, 'exclusive')
    if (guard?.isCurrentEpoch !== true || guard.databaseEpoch !== databaseEpoch) return
    const isCompared = final !== undefined && final >= guard.horizon
    const comparedAt = guard.comparedAt ?? (isCompared ? at : null)
    await saveReading(tx, network, { comparedAt, at })
    if (comparedAt !== null) await endAlive(tx, guard)
  })
}
