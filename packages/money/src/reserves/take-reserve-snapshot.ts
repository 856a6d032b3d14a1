import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { unavailable } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { setShortage } from '../payouts/index.ts'
import { buildTree } from './build-tree.ts'
import { compareWithChain } from './compare-with-chain.ts'
import { type Snapshot, shortage } from './snapshot.ts'
import { findNewest, insertLeaves, insertSnapshot, tryLock } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/**
 * Compares the treasury with the ledger, saves the result as a snapshot and sets the shortage in the same transaction.
 * With a proof it also saves every liability and the root of the tree over them. Returns undefined when another worker
 * saved a snapshot in between, or after the snapshot `after`.
 */
export async function takeReserveSnapshot(
  ctx: Ctx,
  network: Network,
  { withProof, after }: { readonly withProof: boolean; readonly after?: string | null },
): Promise<Snapshot | undefined> {
  const chain = ctx.chains[network]
  if (chain === undefined)
    throw unavailable(`The treasury on ${network} cannot be read: no node is configured`)
  const before = after === undefined ? await newestId(ctx, network) : after
  const id = ctx.ids.next('rsv')
  const { final, latest, balances, missing, liabilities } = await compareWithChain(ctx, chain, withProof)
  const tree = liabilities && (await buildTree(liabilities, balances))
  const snapshot: Snapshot = {
    id,
    network,
    takenAt: ctx.clock.now(),
    treasury: chain.treasury,
    final,
    latest,
    balances,
    short: usdc(shortage(missing, balances)),
    proof: tree === undefined ? null : { root: tree.root.hash, leaves: tree.leaves.length },
  }
  return transact(ctx.db, async (tx) => {
    if (!(await tryLock(tx, network))) return undefined
    if (((await findNewest(tx, network, ctx.clock.now()))?.id ?? null) !== before) return undefined
    await insertSnapshot(tx, snapshot, tree?.groups ?? [])
    await insertLeaves(tx, id, tree?.leaves ?? [])
    await setShortage(ctx, tx, network, snapshot.short)
    return snapshot
  })
}

const newestId = async ({ db, clock }: Ctx, network: Network): Promise<string | null> =>
  (await findNewest(db, network, clock.now()))?.id ?? null
