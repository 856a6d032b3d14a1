import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { readAtOnce, transact } from '@market/database/transact'
import { unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { GROUP } from '@market/kernel/merkle'
import { formatUsd, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { setDisagreement, setShortage } from '@market/money/payouts'
import { buildTree, type Tree } from './build-tree.ts'
import { compareWithChain, type EarnHolders } from './compare-with-chain.ts'
import { insertLeaves } from './leaves/store.ts'
import { returnFromCold } from './return-from-cold.ts'
import { dayOf, liabilitiesOf, type Snapshot, shortage } from './snapshot.ts'
import { findNewest, hasDay, insertSnapshot, tryLock } from './store.ts'
import { findReading, findWalletLeaves } from './wallets/store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'> & EarnHolders

interface SnapshotOptions {
  readonly withProof: boolean
  /** The newest snapshot that the caller knows. */
  readonly after?: string | null
}

/** Money is missing in blocks that are not final, so no snapshot is published and payouts wait. */
export class MissingInNewBlocks extends Error {}

/**
 * Compares the treasury with the ledger, saves the result as a snapshot and sets the shortage in the same transaction.
 * With a proof it also saves every liability and the root of the tree over them; the first of a UTC day after the server wallets
 * were read is the day's snapshot. Returns undefined when another worker saved a snapshot in between, or after the snapshot `after`.
 */
export async function takeReserveSnapshot(
  ctx: Ctx,
  network: Network,
  { withProof, after }: SnapshotOptions,
): Promise<Snapshot | undefined> {
  const chain = ctx.chains[network]
  if (chain === undefined)
    throw unavailable(`The treasury on ${network} cannot be read: no node is configured`)
  const day = withProof ? await dueDay(ctx, chain) : null
  const wallets = day === null ? undefined : await walletsTree(ctx, chain, day)
  // A tree of many wallets takes time, in which another worker may have taken a snapshot of this network.
  const before = after === undefined || wallets !== undefined ? await newestId(ctx, network) : after
  const id = ctx.ids.next('rsv')
  await returnFromCold(ctx, chain)
  const compared = await compareWithChain(ctx, chain, withProof)
  const { final, latest, cold, balances, missing, liabilities, inFlight } = compared
  if (missing.latest > 0n && missing.final <= 0n) {
    const why = `${formatUsd(usdc(missing.latest))} USDC left in blocks that are not final`
    await transact(ctx.db, (tx) => setDisagreement(ctx, tx, network, why))
    throw new MissingInNewBlocks(`${network}: ${why}`)
  }
  const tree = liabilities && (await buildTree(liabilities))
  assert(
    tree === undefined || tree.root.sum === liabilitiesOf(balances),
    'the leaves add up to the liabilities',
  )
  const snapshot: Snapshot = {
    id,
    network,
    takenAt: ctx.clock.now(),
    treasury: chain.treasury,
    cold,
    final,
    latest,
    balances,
    short: usdc(shortage(missing.final, balances)),
    proof: tree === undefined ? null : { root: tree.root.hash, leaves: tree.leaves.length },
    day,
    inFlight,
    wallets: wallets === undefined ? null : treeOf(wallets),
  }
  return transact(ctx.db, async (tx) => {
    if (!(await tryLock(tx, network))) return undefined
    if (((await findNewest(tx, network, ctx.clock.now()))?.id ?? null) !== before) return undefined
    if (day !== null && (await hasDay(tx, network, day))) return undefined
    const groups = tree?.groups ?? []
    await insertSnapshot(tx, snapshot, [...groups, ...(wallets?.groups ?? [])])
    await insertLeaves(tx, id, tree?.leaves ?? [])
    await insertLeaves(tx, id, wallets?.leaves ?? [], groups.length * GROUP)
    await setShortage(ctx, tx, network, snapshot.short)
    return snapshot
  })
}

const newestId = async ({ db, clock }: Ctx, network: Network): Promise<string | null> =>
  (await findNewest(db, network, clock.now()))?.id ?? null

/** Today, when its snapshot can be taken and is not. */
export async function dueDay(
  { db, clock }: Needs<'db' | 'clock'>,
  { network, finalBalancesOf }: Chain,
): Promise<string | null> {
  const today = dayOf(clock.now())
  if (await hasDay(db, network, today)) return null
  if (finalBalancesOf === undefined) return today
  const reading = await findReading(db, network)
  // fix: day-after-wallets
  if (reading?.day !== today || !reading.isComplete) return null
  return today
}

/** The application keeps the keys of server wallets, so agents must be able to check that their balances are counted. */
async function walletsTree(
  { db }: Ctx,
  { network, finalBalancesOf }: Chain,
  day: string,
): Promise<Tree | undefined> {
  if (finalBalancesOf === undefined) return undefined
  return buildTree(await readAtOnce(db, (tx) => findWalletLeaves(tx, network, day)))
}

const treeOf = ({ root, leaves }: Tree) => ({ root: root.hash, count: leaves.length, total: usdc(root.sum) })
