import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { unavailable } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { setShortage } from '../payouts/index.ts'
import { compareWithChain } from './compare-with-chain.ts'
import { type Snapshot, shortage } from './snapshot.ts'
import { findNewest, insertLeaves, insertSnapshot, tryLock } from './store.ts'
import { treeOver } from './tree-over.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/**
 * Compares what a treasury holds with what the books say it must, writes the look down, and tells the payouts in the
 * same transaction. Undefined when somebody else's look was written meanwhile, or since the one it comes after: then
 * that one counts. With a proof, it
 * also writes down every liability and the root of the tree over them.
 */
export async function takeReserveSnapshot(
  ctx: Ctx,
  network: Network,
  { withProof, after }: { readonly withProof: boolean; readonly after?: string | null },
): Promise<Snapshot | undefined> {
  const chain = ctx.chains[network]
  if (chain === undefined) throw unavailable(`${network} cannot be looked at: no node of it is known`)
  const before = after === undefined ? await newestId(ctx, network) : after
  const id = ctx.ids.next('rsv')
  const { final, latest, books, missing, liabilities } = await compareWithChain(ctx, chain, withProof)
  const tree = liabilities && (await treeOver(liabilities, books))
  const look: Snapshot = {
    id,
    network,
    takenAt: ctx.clock.now(),
    treasury: chain.treasury,
    final,
    latest,
    books,
    short: usdc(shortage(missing, books)),
    proof: tree === undefined ? null : { root: tree.root.hash, leaves: tree.leaves.length },
  }
  return transact(ctx.db, async (tx) => {
    if (!(await tryLock(tx, network))) return undefined
    if (((await findNewest(tx, network, ctx.clock.now()))?.id ?? null) !== before) return undefined
    await insertSnapshot(tx, look, tree?.groups ?? [])
    await insertLeaves(tx, id, tree?.leaves ?? [])
    await setShortage(ctx, tx, network, look.short)
    return look
  })
}

const newestId = async ({ db, clock }: Ctx, network: Network): Promise<string | null> =>
  (await findNewest(db, network, clock.now()))?.id ?? null
