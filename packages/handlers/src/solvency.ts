import { nameOf } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import { listHoldings, type PoolHolding } from '@market/earn/pools'
import { listPositions } from '@market/earn/withdrawals'
import { payoutSettings } from '@market/identity/agents'
import { formatUsd, usdc } from '@market/kernel/money'
import { type ListedAnchor, listAnchors } from '@market/reserves/anchors'
import {
  getSolvency,
  getSolvencyHistory,
  type LiabilityProof,
  liabilitiesOf,
  type NetworkSolvency,
  proveLiabilities,
  type Snapshot,
} from '@market/reserves/snapshots'
import { type HandlerContext, handler } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { presentShares } from './present-shares.ts'
import { requireAgent } from './require-actor.ts'

type AnchoredTree = ListedAnchor['trees'][number]

const usd = (micros: bigint): string => formatUsd(usdc(micros))

const presentHolding = (pool: PoolHolding) => ({
  ...{ key: pool.key, vault: pool.vault, wallet: pool.wallet },
  vault_shares: String(pool.venueShares),
  shares: presentShares(pool.totalShares),
  queued_shares: presentShares(pool.queuedShares),
  value_usd: pool.value === null ? null : formatUsd(pool.value),
  read_at: pool.readAt?.toISOString() ?? null,
})

const presentNetwork = ({ newest, proven, ofDay }: NetworkSolvency, pools: readonly PoolHolding[]) => ({
  network: newest.network,
  treasury: newest.treasury,
  cold: newest.cold && { address: newest.cold.address, assets_usd: usd(newest.cold.held) },
  checked_at: newest.takenAt.toISOString(),
  assets_usd: usd(newest.latest),
  assets_final_usd: usd(newest.final),
  venues_usd: usd(newest.balances.venues),
  liabilities_usd: usd(liabilitiesOf(newest.balances)),
  earn_usd: usd(newest.balances.earn),
  earn: pools.filter(({ network }) => network === newest.network).map(presentHolding),
  platform_usd: usd(newest.balances.fees),
  in_flight_usd: usd(newest.balances.inFlight),
  unfinal_usd: usd(newest.balances.unfinal),
  in_flight: newest.inFlight.transactions.map(({ reference, replaces, amount }) => ({
    reference,
    replaces: [...replaces],
    amount_usd: usd(amount),
  })),
  in_flight_count: newest.inFlight.count,
  shortfall_usd: usd(newest.short),
  solvent: newest.short === 0n,
  proof: proven?.proof
    ? {
        snapshot_id: proven.id,
        checked_at: proven.takenAt.toISOString(),
        root: proven.proof.root,
        leaves: proven.proof.leaves,
        liabilities_usd: usd(liabilitiesOf(proven.balances)),
      }
    : null,
  agent_wallets: ofDay?.wallets
    ? {
        snapshot_id: ofDay.id,
        checked_at: ofDay.takenAt.toISOString(),
        root: ofDay.wallets.root,
        count: ofDay.wallets.count,
        total_usd: usd(ofDay.wallets.total),
      }
    : null,
})

const presentDay = ({ network, day, takenAt, latest, balances }: Snapshot) => ({
  network,
  day: day ?? '',
  checked_at: takenAt.toISOString(),
  assets_usd: usd(latest),
  venues_usd: usd(balances.venues),
  liabilities_usd: usd(liabilitiesOf(balances)),
})

/** Siblings are given only by hash and sum, because they belong to other users. */
const presentProof = ({ snapshot, root, total, leaf, path }: LiabilityProof) => ({
  network: snapshot.network,
  snapshot_id: snapshot.id,
  checked_at: snapshot.takenAt.toISOString(),
  root,
  total_usd: usd(total),
  leaf: {
    account: leaf.account,
    holder: leaf.holder ?? '',
    amount_usd: usd(leaf.micros),
    micros: leaf.micros.toString(),
    salt: leaf.salt,
  },
  path: path.map(({ side, hash, sum }) => ({ side, hash, sum: sum.toString() })),
})

/**
 * The owner proved to control the owner wallet by a signature, and the API key stands for the agent and its server
 * wallet. Payout addresses are not proven, so for them only payouts are returned, which will be public on the chain.
 */
async function holdersOf(ctx: HandlerContext) {
  if (ctx.actor.kind !== 'agent')
    return { proven: (await ownerOf(ctx)).wallets.map(({ key }) => key), payees: [] }
  const agent = requireAgent(ctx)
  const { id, ownerWallet } = agent
  const { payoutWallet, payoutAddressBase } = payoutSettings(agent, ctx.clock.now())
  const serverWallet = await findWalletAddress(ctx.db, id, 'solana')
  const named = [payoutWallet, payoutAddressBase].filter((address) => address !== null)
  return {
    proven: [id, ownerWallet, serverWallet].filter((holder) => holder !== null && holder !== undefined),
    payees: named.flatMap((address) => ctx.signatures.parseWallet(address)?.key ?? []),
  }
}

const presentTree = ({ root, micros }: AnchoredTree) => ({
  root,
  total_usd: usd(micros),
  total_micros: micros.toString(),
})

const presentAnchor = ({ day, text, trees, signatures, anchored }: ListedAnchor) => ({
  day,
  text,
  networks: trees
    .filter(({ kind }) => kind === 'liabilities')
    .map((liabilities) => {
      const { network, snapshotId } = liabilities
      const wallets = trees.find((tree) => tree.kind === 'agent_wallets' && tree.network === network)
      return {
        network,
        snapshot_id: snapshotId,
        ...presentTree(liabilities),
        agent_wallets: wallets === undefined ? null : presentTree(wallets),
      }
    }),
  signatures: signatures.map(({ network, treasury, signature }) => ({ network, treasury, signature })),
  anchored: anchored && {
    network: anchored.network,
    account: anchored.account,
    signature: anchored.reference,
    final_at: anchored.finalAt.toISOString(),
  },
})

export const solvencyHandlers = {
  getSolvency: handler('getSolvency', {
    run: async (ctx) => ({ networks: await getSolvency(ctx), pools: await listHoldings(ctx) }),
    present: ({ networks, pools }) => ({ data: networks.map((one) => presentNetwork(one, pools)) }),
  }),

  getSolvencyHistory: handler('getSolvencyHistory', {
    run: (ctx, { days }) => getSolvencyHistory(ctx, days),
    present: (snapshots) => ({ data: snapshots.map(presentDay) }),
  }),

  listAnchors: handler('listAnchors', {
    run: (ctx, page) => listAnchors(ctx, page),
    present: ({ rows, nextCursor }) => ({ data: rows.map(presentAnchor), next_cursor: nextCursor }),
  }),

  getSolvencyProof: handler('getSolvencyProof', {
    run: async (ctx, { limit, snapshot_id, account }) => ({
      ...(await proveLiabilities(ctx, await holdersOf(ctx), { limit, snapshotId: snapshot_id, account })),
      positions: await listPositions(ctx, [nameOf(ctx.actor)]),
    }),
    present: ({ proofs, omitted, positions }) => ({
      data: proofs.map(presentProof),
      omitted,
      earn: positions.map(({ poolKey, shares, queuedShares, value, queuedValue }) => ({
        key: poolKey,
        shares: presentShares(shares),
        queued_shares: presentShares(queuedShares),
        value_usd: usd(value + queuedValue),
      })),
    }),
  }),
}
