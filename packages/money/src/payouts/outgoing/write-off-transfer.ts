import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, minus } from '@market/kernel/money'
import { isOverdraft, type Move, post, suspense, world } from '../../ledger/index.ts'
import { type TransferKey, transferName } from '../../payments/index.ts'
import { hasEnded } from '../payout.ts'
import { lockUnclaimed } from '../refund-transfer.ts'
import { findPayout } from '../store.ts'
import { movesFromFees } from '../withdraw-fees.ts'
import { type OutgoingTransfer, paysExactly } from './outgoing-transfer.ts'
import { lockOutgoingTransfer, saveWrittenOff } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

/**
 * Writes off a payment that no payout explains as a loss of the platform, so that the ledger equals the treasury again.
 * If its payout is recovered later, finalizing that payout returns the money to the fees. Repeated, it changes nothing.
 */
export async function writeOffTransfer(ctx: Ctx, tx: Tx, name: TransferKey): Promise<OutgoingTransfer> {
  const transfer = await lockFinal(tx, name)
  if (transfer.writtenOffAt !== null && transfer.pairedWith === null) return transfer
  await rejectExplained(tx, transfer)
  const moves = await movesFromFees(tx, transfer, world(transfer.network))
  if (moves === undefined) throw feesTooLow()
  try {
    return await charge(ctx, tx, transfer, moves)
  } catch (error) {
    if (isOverdraft(error)) throw feesTooLow()
    throw error
  }
}

/** A payment out of the treasury and the transfer into it that paid for the same order. */
export interface Pair {
  readonly sent: TransferKey
  readonly received: TransferKey
}

/** Locks both. Rejects a payment that needs no pair, and a transfer whose money in suspense cannot pay for it. */
export async function lockPair(tx: Tx, { sent, received }: Pair) {
  if (sent.network !== received.network)
    throw new ApiError('conflict', `The payment is on ${sent.network}, the transfer on ${received.network}.`)
  const transfer = await lockFinal(tx, sent)
  await rejectExplained(tx, transfer)
  const { payer, amount } = await lockUnclaimed(tx, received)
  if (amount < transfer.amount)
    throw new ApiError(
      'conflict',
      `Transfer ${transferName(received)} has ${formatUsd(amount)} USDC in suspense, and the payment is ${formatUsd(transfer.amount)} USDC.`,
    )
  return { transfer, payer, left: minus(amount, transfer.amount) }
}

/**
 * Charges a payment to the money in suspense of its order, which the database has lost. The rest stays in suspense. If the
 * payout is recovered later, finalizing it returns the money to suspense.
 */
export async function pairTransfer(ctx: Ctx, tx: Tx, pair: Pair): Promise<OutgoingTransfer> {
  const { transfer } = await lockPair(tx, pair)
  const { network, amount } = transfer
  const pairedWith = transferName(pair.received)
  const moves = [{ from: suspense(network, pairedWith), to: world(network), amount }]
  return charge(ctx, tx, { ...transfer, pairedWith }, moves)
}

async function charge(
  ctx: Ctx,
  tx: Tx,
  transfer: OutgoingTransfer,
  moves: Move[],
): Promise<OutgoingTransfer> {
  const { network, reference: subject, pairedWith } = transfer
  const charged = { ...transfer, writtenOffAt: ctx.clock.now() }
  await saveWrittenOff(tx, charged)
  const reason = pairedWith === null ? 'transfer.written_off' : 'transfer.paired'
  await post(ctx, tx, {
    key: `${reason}:${network}:${transferName(transfer)}`,
    reason,
    subject,
    network,
    moves,
  })
  return charged
}

async function lockFinal(tx: Tx, name: TransferKey): Promise<OutgoingTransfer> {
  const { network, reference } = name
  const transfer = await lockOutgoingTransfer(tx, name)
  if (transfer === undefined)
    throw new ApiError('not_found', `There is no payment ${reference} out of the treasury on ${network}.`)
  if (!transfer.final) throw new ApiError('conflict', 'This payment is not final yet. Try again when it is.')
  return transfer
}

/**
 * A known payout posts its payment itself. Exceptions: another payment made the payout final, or the payout waits because
 * this payment contains its id and does not pay its amount to its payee; writing it off ends that hold.
 */
async function rejectExplained(tx: Tx, transfer: OutgoingTransfer): Promise<void> {
  const { payoutId, reference, writtenOffAt, pairedWith } = transfer
  if (writtenOffAt !== null)
    throw new ApiError(
      'conflict',
      `This payment was already ${pairedWith ? `paired with transfer ${pairedWith}` : 'written off'}.`,
    )
  if (payoutId === null) return
  const payout = await findPayout(tx, payoutId)
  if (payout === undefined) return
  if (payout.state === 'final' && payout.finalReference !== reference) return
  if (!hasEnded(payout) && !paysExactly(payout, transfer)) return
  const next = payout.state === 'failed' ? 'Retry that payout instead.' : 'You do not need to do anything.'
  throw new ApiError('conflict', `This payment belongs to payout ${payoutId}. ${next}`)
}

const feesTooLow = (): ApiError =>
  new ApiError(
    'conflict',
    'The fees on this network do not cover this payment. Send USDC of the platform to the treasury, recognize it as revenue, and try again.',
  )
