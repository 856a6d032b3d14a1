import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, fees, post, surplus, suspense } from '../ledger/index.ts'
import {
  formatPurpose,
  lockTransfer,
  type Purpose,
  type Transfer,
  type TransferKey,
  transferName,
} from '../payments/index.ts'
import { minPayoutOn, requireMinimum } from './limits/minimum.ts'
import { type Payout, payoutIdOf, type Unmatched } from './payout.ts'
import { requestPayout } from './request-payout.ts'
import { findPayout } from './store.ts'

/** Money that no purpose has claimed, or that was paid above the amount due. */
const ACCOUNTS = { suspense, surplus } as const

/** One hash can exist on both EVM networks; a Solana signature is long and exists once. */
const SUBJECT_PREFIX: Readonly<Record<Network, string>> = {
  'solana-mainnet': '',
  'base-mainnet': 'base:',
  'alt-mainnet': 'alt:',
}

const refundSubject = (unmatched: Unmatched): string =>
  `${unmatched.from}:${SUBJECT_PREFIX[unmatched.network]}${transferName(unmatched)}`

/**
 * Pays what a transfer left in suspense or as surplus back to its payer, or to the payee that two operators approved.
 * Repeated, it returns the same payout.
 */
export async function refundTransfer(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
  tx: Tx,
  request: Unmatched & { readonly approvedPayee?: string },
): Promise<Payout> {
  const { approvedPayee, ...unmatched } = request
  const { network, from } = unmatched
  const { payer, amount } = await lockUnmatched(tx, unmatched)
  const account = ACCOUNTS[from](network, transferName(request))
  const subject = refundSubject(unmatched)
  const known = await findPayout(tx, payoutIdOf('surplus', subject))
  if (amount === 0n && known !== undefined) return known
  if (amount === 0n)
    throw new ApiError(
      'conflict',
      `Transfer ${transferName(request)} has no money in ${from}. Nothing was refunded.`,
    )
  if (known !== undefined)
    throw new ApiError('conflict', `A part of this transfer was already refunded by ${known.id}.`)
  requireMinimum(ctx, { network, amount })
  return requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject,
    unmatched,
    payee: approvedPayee ?? requirePayer(payer),
    amount,
    from: account,
  })
}

/** What was returned of the surplus of a transfer on request, or undefined. */
export const findReturnedSurplus = (
  db: Db | Tx,
  { network, reference, index }: TransferKey,
): Promise<Payout | undefined> =>
  findPayout(db, payoutIdOf('surplus', refundSubject({ network, reference, index, from: 'surplus' })))

function requirePayer(payer: string | null): string {
  if (payer === null)
    throw new ApiError(
      'conflict',
      'The payer of this money is unknown. Propose `refund_unmatched` with POST /api/admin/approvals.',
      { code: 'approval_required' },
    )
  return payer
}

interface Received {
  readonly payer: string | null
  readonly amount: Usdc
}

/** Final unmatched money and who paid it. Locks the transfer. */
export async function lockUnmatched(tx: Tx, unmatched: Unmatched): Promise<Received> {
  const { network, from } = unmatched
  const transfer = await lockFinalTransfer(tx, unmatched)
  // fix: venue-money-is-of-its-pool
  if (await isOfVenue(tx, unmatched))
    throw new ApiError(
      'conflict',
      `Transfer ${transferName(unmatched)} was made by a venue wallet of Earn, so it belongs to a pool. Propose \`accept_venue_transfer\` with POST /api/admin/approvals if it is held.`,
      { code: 'approval_required' },
    )
  // Recorded before transfers had indexes: what is in suspense beside a claim was paid by others.
  const payer = from === 'suspense' && transfer.purpose !== null ? null : transfer.payer
  return { payer, amount: usdc(await balanceOf(tx, ACCOUNTS[from](network, transferName(unmatched)))) }
}

/** Whether a transaction of a venue wallet made the transfer. */
async function isOfVenue(tx: Tx, { network, reference }: TransferKey): Promise<boolean> {
  const query = tx.selectFrom('outgoing_transactions').select('reference').where('reference', '=', reference)
  return (
    (await query.where('kind', '=', 'venue').where('network', '=', network).executeTakeFirst()) !== undefined
  )
}

interface OwnDeposit extends TransferKey {
  /** The wallets of the platform, as keys. */
  readonly ownWallets: readonly string[]
}

/** The money in suspense of a final transfer that paid for nothing. Locks the transfer. */
export async function lockUnclaimed(tx: Tx, key: TransferKey): Promise<Received> {
  const { purpose, payer } = await lockFinalTransfer(tx, key)
  if (purpose !== null)
    throw new ApiError(
      'conflict',
      'This transfer paid for a purchase; the rest of it was paid by others. Refund it instead.',
    )
  const amount = usdc(await balanceOf(tx, suspense(key.network, transferName(key))))
  if (amount === 0n) throw new ApiError('conflict', `Transfer ${transferName(key)} has no money in suspense.`)
  return { payer, amount }
}

/** Rejects a transfer that a customer may have made: only money of the platform becomes revenue. */
export async function lockOwnDeposit(tx: Tx, deposit: OwnDeposit): Promise<Received> {
  const { network, ownWallets } = deposit
  const received = await lockUnclaimed(tx, deposit)
  const { payer } = received
  // fix: own-deposits-only
  if (payer === null || !ownWallets.includes(payer))
    throw new ApiError(
      'conflict',
      `The payer ${payer ?? '(unknown)'} is not in the list of the platform’s wallets on ${network}. Refund the transfer instead.`,
      { code: 'not_our_wallet' },
    )
  return received
}

/** Recognizes a transfer that the platform itself made as revenue: from suspense to the fees. */
export async function recognizeRevenue(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  deposit: OwnDeposit,
): Promise<Usdc> {
  const { amount } = await lockOwnDeposit(tx, deposit)
  const { network } = deposit
  const name = transferName(deposit)
  await post(ctx, tx, {
    key: `transfer.recognized:${network}:${name}`,
    reason: 'transfer.recognized',
    subject: name,
    network,
    moves: [{ from: suspense(network, name), to: fees(network), amount }],
  })
  return amount
}

/** An operator may only dispose of a transfer into the treasury that the chain can no longer reverse. */
async function lockFinalTransfer(tx: Tx, key: TransferKey): Promise<Transfer> {
  const transfer = await lockTransfer(tx, key)
  if (transfer === undefined)
    throw new ApiError(
      'not_found',
      `There is no transfer ${transferName(key)} into the treasury on ${key.network}.`,
    )
  if (transfer.state === 'gone')
    throw new ApiError('conflict', 'The chain reversed this transfer. There is nothing to refund.')
  if (transfer.state !== 'final')
    throw new ApiError('conflict', 'This transfer is not final yet. Try again when it is.')
  return transfer
}

/** A smaller surplus costs more to return than it is worth. */
const SMALLEST_RETURNED = usdc(100_000n)

interface PaidPurchase {
  readonly network: Network
  /** The payout's subject, so that the surplus is returned once. */
  readonly subject: string
  readonly purpose: Purpose
  readonly due: Usdc
}

/** Requested together with the payment; like every payout it waits until the payment is final. */
export async function returnSurplus(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
  tx: Tx,
  { network, subject, purpose, due }: PaidPurchase,
  transfer: IncomingTransfer,
): Promise<void> {
  const { amount, payer } = transfer
  const excess = minus(amount, due)
  if (excess <= SMALLEST_RETURNED || excess < minPayoutOn(ctx, network)) return
  assert(payer !== null, `${formatPurpose(purpose)} was paid by a wallet`)
  await requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject,
    payee: payer,
    amount: excess,
    from: surplus(network, transferName(transfer)),
    purpose,
  })
}
