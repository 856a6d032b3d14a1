import { formatUsd, usdc } from '@market/kernel/money'
import {
  getSolvency,
  type LiabilityProof,
  liabilitiesOf,
  proveLiabilities,
  type Standing,
} from '@market/money/reserves'
import { type HandlerContext, handler } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { requireAgent } from './require-actor.ts'

const usd = (micros: bigint): string => formatUsd(usdc(micros))

const presentStanding = ({ newest, proven }: Standing) => ({
  network: newest.network,
  treasury: newest.treasury,
  checked_at: newest.takenAt.toISOString(),
  assets_usd: usd(newest.latest),
  assets_final_usd: usd(newest.final),
  liabilities_usd: usd(liabilitiesOf(newest.books)),
  platform_usd: usd(newest.books.fees),
  in_flight_usd: usd(newest.books.inFlight),
  shortfall_usd: usd(newest.short),
  solvent: newest.short === 0n,
  proof: proven?.proof
    ? {
        snapshot_id: proven.id,
        checked_at: proven.takenAt.toISOString(),
        root: proven.proof.root,
        leaves: proven.proof.leaves,
        liabilities_usd: usd(liabilitiesOf(proven.books)),
      }
    : null,
})

/** Of those beside the way only hash and sum: whose they are is nobody else's business. */
const presentProof = ({ look, root, total, leaf, path }: LiabilityProof) => ({
  network: look.network,
  snapshot_id: look.id,
  checked_at: look.takenAt.toISOString(),
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
 * An owner's wallet was signed for, and so is the caller's. A payout address was only named: anybody's can be, so it
 * shows no more than what is being paid to it, as the chain soon will.
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
    present: (standings) => ({ data: standings.map(presentStanding) }),
  }),

  getSolvencyProof: handler('getSolvencyProof', {
    run: async (ctx, { limit }) => proveLiabilities(ctx, await holdersOf(ctx), limit),
    present: ({ proofs, omitted }) => ({ data: proofs.map(presentProof), omitted }),
  }),
}
