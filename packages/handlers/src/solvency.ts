import { formatUsd, usdc } from '@market/kernel/money'
import {
  getSolvency,
  type LiabilityProof,
  liabilitiesOf,
  type NetworkSolvency,
  proveLiabilities,
} from '@market/money/reserves'
import { type HandlerContext, handler } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { requireAgent } from './require-actor.ts'

const usd = (micros: bigint): string => formatUsd(usdc(micros))

const presentNetwork = ({ newest, proven }: NetworkSolvency) => ({
  network: newest.network,
  treasury: newest.treasury,
  checked_at: newest.takenAt.toISOString(),
  assets_usd: usd(newest.latest),
  assets_final_usd: usd(newest.final),
  liabilities_usd: usd(liabilitiesOf(newest.balances)),
  platform_usd: usd(newest.balances.fees),
  in_flight_usd: usd(newest.balances.inFlight),
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
 * The owner proved to control the owner wallet by a signature. Payout addresses are not proven, so for them only payouts
 * are returned, which will be public on the chain anyway.
 */
async function holdersOf(ctx: HandlerContext) {
  if (ctx.actor.kind !== 'agent') return { wallets: (await ownerOf(ctx)).wallets, payees: [] }
  const { ownerWallet, payoutWallet, payoutAddressBase } = requireAgent(ctx)
  const named = [payoutWallet, payoutAddressBase].filter((address) => address !== null)
  return {
    wallets: ownerWallet === null ? [] : [ownerWallet],
    payees: named.flatMap((address) => ctx.signatures.parseWallet(address)?.key ?? []),
  }
}

export const solvencyHandlers = {
  getSolvency: handler('getSolvency', {
    run: (ctx) => getSolvency(ctx),
    present: (networks) => ({ data: networks.map(presentNetwork) }),
  }),

  getSolvencyProof: handler('getSolvencyProof', {
    run: async (ctx, { limit }) => proveLiabilities(ctx, await holdersOf(ctx), limit),
    present: ({ proofs, omitted }) => ({ data: proofs.map(presentProof), omitted }),
  }),
}
