import type { Concern } from '@market/core/approvals'
import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { Recipient } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { transferName } from '../payments/index.ts'
import {
  approvePayout,
  findListedPayout,
  type ListedPayout,
  lockOwnDeposit,
  lockPair,
  lockUnmatched,
  moveToCold,
  type NetworkAmount,
  type Pair,
  type PayoutId,
  pairTransfer,
  recognizeRevenue,
  refundTransfer,
  requireCapped,
  requireFees,
  requireMinimum,
  requireMovable,
  retryPayout,
  withdrawFees,
} from '../payouts/index.ts'
import { requirePayee } from './payee.ts'
import { parseUnmatchedId, unmatchedIdOf } from './unmatched-id.ts'

/** What moves money elsewhere: `check` runs when it is proposed and again when it is approved, `execute` after that. */

type Ctx = Needs<'clock' | 'ids' | 'actor' | 'vault' | 'requestId' | 'signatures' | 'chains'>

/** From the configuration. */
export interface TreasurySettings {
  /** The wallets of the platform, as keys: only transfers from them become revenue. */
  readonly ownWallets: Readonly<Record<Network, readonly string[]>>
  /** Where fees may be withdrawn to, as keys. */
  readonly feeAddresses: Readonly<Record<Network, readonly string[]>>
  /** The most that a treasury should hold; undefined means no limit. */
  readonly hotMax: Readonly<Partial<Record<Network, Usdc | undefined>>>
}

type Settings = { readonly treasury: TreasurySettings }

const walletRecipients = (...wallets: (string | null)[]): Recipient[] =>
  wallets.filter((wallet) => wallet !== null).map((wallet) => `wallet:${wallet}` as const)

interface Redirection {
  readonly payoutId: PayoutId
  readonly payee: string
}

/** A failed payout to another payee. The caller adds whose payout it is. */
export async function checkRedirection(
  ctx: Ctx,
  tx: Tx,
  { payoutId, payee }: Redirection,
): Promise<Concern & { payout: ListedPayout }> {
  const payout = await findListedPayout(tx, payoutId)
  if (payout === undefined) throw new ApiError('not_found', `There is no payout ${payoutId}.`)
  if (payout.state !== 'failed')
    throw new ApiError(
      'conflict',
      `Payout ${payoutId} is ${payout.state}. Only a failed payout can be retried.`,
    )
  if (payout.kind === 'move_to_cold')
    throw new ApiError('conflict', 'A move to the cold address goes nowhere else. Retry it instead.')
  const key = requirePayee(ctx, payout.network, payee)
  const to = `${formatUsd(payout.amount)} USDC of payout ${payoutId} to ${key} on ${payout.network}`
  return {
    subject: payoutId,
    summary: `pay ${to} instead of ${payout.payee ?? 'an unknown address'}`,
    recipients: walletRecipients(payout.payee),
    payout,
  }
}

export async function executeRedirection(
  ctx: Ctx,
  tx: Tx,
  { payoutId, payee }: Redirection,
  approvalId: string,
): Promise<void> {
  const before = await findListedPayout(tx, payoutId)
  if (before === undefined) throw new ApiError('not_found', `There is no payout ${payoutId}.`)
  const after = await retryPayout(ctx, tx, payoutId, { payee: requirePayee(ctx, before.network, payee) })
  await record(ctx, tx, {
    act: 'payout.redirected',
    subject: payoutId,
    details: {
      approval: approvalId,
      network: after.network,
      amount_usd: formatUsd(after.amount),
      payee: after.payee,
      payee_before: before.payee,
      round: after.round,
    },
  })
}

/** A payout above a cap. The caller adds whose payout it is. */
export async function checkCapped(tx: Tx, id: PayoutId): Promise<Concern & { payout: ListedPayout }> {
  const payout = await findListedPayout(tx, id)
  if (payout === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
  requireCapped(payout)
  const { amount, network, payee, reason } = payout
  return {
    subject: id,
    summary: `send ${formatUsd(amount)} USDC of payout ${id} to ${payee} on ${network}, which waits because: ${reason}`,
    recipients: [],
    payout,
  }
}

export async function executeCapped(ctx: Ctx, tx: Tx, id: PayoutId, approvalId: string): Promise<void> {
  const { network, payee, amount } = await approvePayout(ctx, tx, id, approvalId)
  await record(ctx, tx, {
    act: 'payout.approved',
    subject: id,
    details: { approval: approvalId, network, payee, amount_usd: formatUsd(amount) },
  })
}

interface Refund {
  readonly unmatchedId: string
  readonly payee: string
}

/** Unmatched money to an address that is not, or not known to be, its payer's. */
export async function checkRefund(ctx: Ctx, tx: Tx, refund: Refund): Promise<Concern> {
  const unmatched = parseUnmatchedId(refund.unmatchedId)
  const { payer, amount } = await lockUnmatched(tx, unmatched)
  if (amount === 0n) throw new ApiError('conflict', `There is no money left in ${refund.unmatchedId}.`)
  requireMinimum(ctx, { network: unmatched.network, amount })
  const payee = requirePayee(ctx, unmatched.network, refund.payee)
  return {
    subject: unmatchedIdOf(unmatched),
    summary: `refund ${formatUsd(amount)} USDC of transfer ${transferName(unmatched)} to ${payee} on ${unmatched.network}; its payer is ${payer ?? 'unknown'}`,
    recipients: walletRecipients(payer, payee),
  }
}

export async function executeRefund(ctx: Ctx, tx: Tx, refund: Refund, approvalId: string): Promise<void> {
  const unmatched = parseUnmatchedId(refund.unmatchedId)
  const { network, from } = unmatched
  const approvedPayee = requirePayee(ctx, network, refund.payee)
  const { id, amount, payee } = await refundTransfer(ctx, tx, { ...unmatched, approvedPayee })
  await record(ctx, tx, {
    act: 'transfer.refunded',
    subject: transferName(unmatched),
    details: { approval: approvalId, network, from, payout: id, payee, amount_usd: formatUsd(amount) },
  })
}

/** A deposit of the platform itself that becomes revenue. */
export async function checkRecognition(ctx: Settings, tx: Tx, unmatchedId: string): Promise<Concern> {
  const deposit = ownDeposit(ctx, unmatchedId)
  const { amount, payer } = await lockOwnDeposit(tx, deposit)
  const { network } = deposit
  return {
    subject: unmatchedIdOf(deposit),
    summary: `recognize ${formatUsd(amount)} USDC of transfer ${transferName(deposit)} on ${network} as revenue`,
    recipients: walletRecipients(payer),
  }
}

export async function executeRecognition(
  ctx: Ctx & Settings,
  tx: Tx,
  unmatchedId: string,
  approvalId: string,
): Promise<void> {
  const deposit = ownDeposit(ctx, unmatchedId)
  const amount = await recognizeRevenue(ctx, tx, deposit)
  await record(ctx, tx, {
    act: 'transfer.recognized',
    subject: transferName(deposit),
    details: { approval: approvalId, network: deposit.network, amount_usd: formatUsd(amount) },
  })
}

function ownDeposit({ treasury }: Settings, unmatchedId: string) {
  const unmatched = parseUnmatchedId(unmatchedId)
  if (unmatched.from === 'surplus')
    throw new ApiError('conflict', 'A surplus belongs to the payer of a purchase. Refund it instead.')
  return { ...unmatched, ownWallets: treasury.ownWallets[unmatched.network] }
}

/** A payment whose payout the database has lost, charged to the money that paid for its order. */
export async function checkPairing(tx: Tx, pair: Pair): Promise<Concern> {
  const { transfer, payer, left } = await lockPair(tx, pair)
  const { network, payee, amount } = transfer
  return {
    subject: unmatchedIdOf({ ...pair.received, from: 'suspense' }),
    summary: `charge the payment ${transferName(pair.sent)} of ${formatUsd(amount)} USDC to ${payee} on ${network} to transfer ${transferName(pair.received)}, which keeps ${formatUsd(left)} USDC`,
    recipients: walletRecipients(payer),
  }
}

export async function executePairing(ctx: Ctx, tx: Tx, pair: Pair, approvalId: string): Promise<void> {
  const { network, payee, amount, pairedWith } = await pairTransfer(ctx, tx, pair)
  await record(ctx, tx, {
    act: 'transfer.paired',
    subject: transferName(pair.sent),
    details: { approval: approvalId, network, payee, amount_usd: formatUsd(amount), transfer: pairedWith },
  })
}

interface Withdrawal extends NetworkAmount {
  readonly payee: string
}

/** Fees to an address of the configuration. */
export async function checkWithdrawal(ctx: Ctx & Settings, tx: Tx, withdrawal: Withdrawal): Promise<Concern> {
  const { network, amount } = withdrawal
  const payee = requireFeeAddress(ctx, withdrawal)
  requireMinimum(ctx, withdrawal)
  await requireFees(tx, { network, amount })
  return {
    subject: `fees:${network}`,
    summary: `withdraw ${formatUsd(amount)} USDC of fees to ${payee} on ${network}`,
    recipients: [],
  }
}

export async function executeWithdrawal(
  ctx: Ctx & Settings,
  tx: Tx,
  withdrawal: Withdrawal,
  approvalId: string,
): Promise<void> {
  const { network, amount } = withdrawal
  const payee = requireFeeAddress(ctx, withdrawal)
  const { id } = await withdrawFees(ctx, tx, { network, amount, payee }, approvalId)
  await record(ctx, tx, {
    act: 'fees.withdrawn',
    subject: id,
    details: { approval: approvalId, network, payee, amount_usd: formatUsd(amount) },
  })
}

/** USDC of the treasury to the cold address of the configuration. */
export async function checkColdMove(ctx: Ctx, tx: Tx, move: NetworkAmount): Promise<Concern> {
  const { network, amount } = move
  const address = requireColdAddress(ctx, network)
  requireMinimum(ctx, move)
  await requireMovable(tx, move)
  return {
    subject: `cold:${network}`,
    summary: `move ${formatUsd(amount)} USDC of the treasury to the cold address ${address} on ${network}`,
    recipients: [],
  }
}

export async function executeColdMove(
  ctx: Ctx,
  tx: Tx,
  move: NetworkAmount,
  approvalId: string,
): Promise<void> {
  const { network, amount } = move
  const address = requireColdAddress(ctx, network)
  const { id } = await moveToCold(ctx, tx, { network, amount, address }, approvalId)
  await record(ctx, tx, {
    act: 'treasury.moved_to_cold',
    subject: id,
    details: { approval: approvalId, network, address, amount_usd: formatUsd(amount) },
  })
}

function requireColdAddress({ chains }: Ctx, network: Network): string {
  const address = chains[network]?.cold
  if (address === undefined)
    throw new ApiError(
      'conflict',
      `There is no cold address on ${network}. Set <NETWORK>_COLD_ADDRESS for the api and the worker.`,
      { code: 'no_cold_address' },
    )
  return address
}

function requireFeeAddress(ctx: Ctx & Settings, { network, payee }: Withdrawal): string {
  const key = requirePayee(ctx, network, payee)
  if (!ctx.treasury.feeAddresses[network].includes(key))
    throw new ApiError(
      'conflict',
      `${payee} is not in the list of addresses to which fees may be withdrawn on ${network}. Use one of <NETWORK>_FEE_ADDRESSES.`,
      { code: 'not_our_wallet' },
    )
  return key
}
