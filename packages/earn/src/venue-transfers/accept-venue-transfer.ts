import { type ApprovalRule, findApproved } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, parseUsd, type Usdc, usdc, ZERO } from '@market/kernel/money'
import type { Accepted } from './accepted.ts'
import { findArrived } from './find-arrived.ts'
import { findVenueTransfer, wasReadSince } from './store.ts'
import type { VenueTransfer } from './venue-transfer.ts'

const KIND = 'accept_venue_transfer'

/** What operators read on the chain of a transfer whose receipt was not understood. */
export interface AcceptedTransfer {
  readonly id: string
  /** The vault's shares that it brought, or that were burned. */
  readonly vaultShares: bigint
  /** Of a recall: the USDC that arrived in the treasury. */
  readonly assets: Usdc
}

/**
 * The real numbers of a held venue transfer. What arrived is in the ledger, so that operators cannot choose it; what was not burned
 * goes back to the withdrawals that it was redeemed for. The worker compares them with wallet and chain (`accepted.ts`), and takes
 * those that were approved last.
 */
export const acceptVenueTransfer: ApprovalRule<Needs<'clock'>, AcceptedTransfer> = {
  async check(_ctx, tx, accepted) {
    const { id, vaultShares, assets } = accepted
    const transfer = await requireHeld(tx, id)
    const { kind, reference, poolKey, askedShares, amount } = transfer
    if (kind === 'deploy' && vaultShares === 0n)
      throw new ApiError('conflict', `A deploy that brought no shares cannot be accepted. ${id} stays held.`)
    const paid = kind === 'deploy' ? [] : await findArrived(tx, transfer, reference)
    const arrived = kind === 'deploy' ? amount : usdc(paid.reduce((sum, one) => sum + one.amount, 0n))
    // fix: accepted-after-reading
    if (arrived === ZERO && !(await wasReadSince(tx, transfer)))
      throw new ApiError(
        'conflict',
        `The blocks with ${reference} were not read to the end yet, so it is not known what it paid. Propose it again in a minute.`,
      )
    if (assets !== arrived)
      throw new ApiError(
        'conflict',
        `amount_usd is ${formatUsd(assets)}, but transaction ${reference} moved ${formatUsd(arrived ?? assets)} USDC by the ledger. Propose what it moved.`,
      )
    const what =
      kind === 'deploy'
        ? `brought ${vaultShares} shares of the vault`
        : `burned ${vaultShares} of ${askedShares} shares of the vault and paid ${formatUsd(assets)} USDC`
    return {
      subject: id,
      summary: `accept that the ${kind} ${id} of ${poolKey} in ${reference} ${what}`,
      recipients: [],
    }
  },

  /** The worker alone moves money of pools: it finds the approval. */
  async execute(_ctx, tx, { id, vaultShares, assets }) {
    const { poolKey, reference } = await requireHeld(tx, id)
    const details = {
      pool: poolKey,
      reference,
      vault_shares: String(vaultShares),
      amount_usd: formatUsd(assets),
    }
    return { act: 'earn.transfer_accepted', subject: id, details }
  },
}

async function requireHeld(tx: Tx, id: string): Promise<VenueTransfer & { readonly reference: string }> {
  const transfer = await findVenueTransfer(tx, id)
  if (transfer === undefined) throw new ApiError('not_found', `There is no venue transfer ${id}.`)
  const { state, reference } = transfer
  if (state !== 'held' || reference === null)
    throw new ApiError('conflict', `The venue transfer ${id} is ${state}, and no receipt of it is in doubt.`)
  return { ...transfer, reference }
}

/** What two operators accepted last for a held transfer, if they did. */
export async function findAccepted(db: Db, id: string): Promise<Accepted | undefined> {
  const [payload] = (await findApproved(db, KIND, id)) as { vault_shares: string; amount_usd: string }[]
  return (
    payload && { venueShares: BigInt(payload.vault_shares), assets: parseUsd(payload.amount_usd) ?? ZERO }
  )
}
