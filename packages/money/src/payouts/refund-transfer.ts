import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, fees, post, surplus, suspense } from '../ledger/index.ts'
import { formatPurpose, lockTransfer, type Purpose, type Transfer } from '../payments/index.ts'
import { type Payout, payoutIdOf } from './payout.ts'
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

/** Pays what a transfer left in suspense or as surplus back to its payer. Repeated, it returns the same payout. */
export async function refundTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  request: { network: Network; reference: string; from: keyof typeof ACCOUNTS; payee?: string },
): Promise<Payout> {
  const { network, reference, from } = request
  const transfer = await lockFinalTransfer(tx, network, reference)
  // The payer of a claimed transfer paid the claimed part; the rest in suspense was paid by others.
  const payer = from === 'suspense' && transfer.purpose !== null ? null : transfer.payer
  const account = ACCOUNTS[from](network, reference)
  const subject = `${from}:${SUBJECT_PREFIX[network]}${reference}`
  const known = await findPayout(tx, payoutIdOf('surplus', subject))
  const amount = usdc(await balanceOf(tx, account))
  if (amount === 0n && known !== undefined) return known
  if (amount === 0n)
    throw new ApiError('conflict', `Transfer ${reference} has no money in ${from}. Nothing was refunded.`)
  if (known !== undefined)
    throw new ApiError('conflict', `A part of this transfer was already refunded by ${known.id}.`)
  return requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject,
    payee: requirePayer(payer, request.payee),
    amount,
    from: account,
  })
}

function requirePayer(payer: string | null, payee: string | undefined): string {
  if (payer !== null && payee !== undefined && payer !== payee)
    throw new ApiError('conflict', `This transfer was paid by ${payer} and is refunded there. Omit payee.`)
  const refunded = payer ?? payee
  if (refunded === undefined)
    throw new ApiError('invalid', 'The payer of this transfer is unknown. Set payee.', {
      details: [{ path: 'payee', message: 'must be the wallet that paid, as the transaction shows' }],
    })
  return refunded
}

/** Recognizes a transfer that the platform itself made as revenue: from suspense to the fees. */
export async function recognizeRevenue(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, reference }: { network: Network; reference: string },
): Promise<Usdc> {
  const transfer = await lockFinalTransfer(tx, network, reference)
  if (transfer.purpose !== null)
    throw new ApiError(
      'conflict',
      'This transfer paid for a purchase; the rest of it was paid by others. Refund it instead.',
    )
  const from = suspense(network, reference)
  const amount = usdc(await balanceOf(tx, from))
  if (amount === 0n) throw new ApiError('conflict', `Transfer ${reference} has no money in suspense.`)
  await post(ctx, tx, {
    key: `transfer.recognized:${network}:${reference}`,
    reason: 'transfer.recognized',
    subject: reference,
    network,
    moves: [{ from, to: fees(network), amount }],
  })
  return amount
}

/** An operator may only dispose of a transfer into the treasury that the chain can no longer reverse. */
async function lockFinalTransfer(tx: Tx, network: Network, reference: string): Promise<Transfer> {
  const transfer = await lockTransfer(tx, network, reference)
  if (transfer === undefined)
    throw new ApiError('not_found', `There is no transfer ${reference} into the treasury on ${network}.`)
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
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, subject, purpose, due }: PaidPurchase,
  { reference, amount, payer }: IncomingTransfer,
): Promise<void> {
  const excess = minus(amount, due)
  if (excess <= SMALLEST_RETURNED) return
  assert(payer !== null, `${formatPurpose(purpose)} was paid by a wallet`)
  await requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject,
    payee: payer,
    amount: excess,
    from: surplus(network, reference),
    purpose,
  })
}
