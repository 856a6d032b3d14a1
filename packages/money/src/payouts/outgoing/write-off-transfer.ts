import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, fees, isOverdraft, type Move, post, stripesOf, world } from '../../ledger/index.ts'
import { transferName } from '../../payments/index.ts'
import { hasEnded } from '../payout.ts'
import { findPayout } from '../store.ts'
import { type OutgoingTransfer, paysExactly } from './outgoing-transfer.ts'
import { lockOutgoingTransfer, saveWrittenOff, type TransferName } from './store.ts'

/**
 * Writes off a payment that no payout explains as a loss of the platform, so that the ledger equals the treasury again.
 * If its payout is recovered later, finalizing that payout returns the money to the fees. Repeated, it changes nothing.
 */
export async function writeOffTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  name: TransferName,
): Promise<OutgoingTransfer> {
  const { network, reference } = name
  const transfer = await lockOutgoingTransfer(tx, name)
  if (transfer === undefined)
    throw new ApiError('not_found', `There is no payment ${reference} out of the treasury on ${network}.`)
  if (transfer.writtenOffAt !== null) return transfer
  if (!transfer.final) throw new ApiError('conflict', 'This payment is not final yet. Try again when it is.')
  await rejectExplained(tx, transfer)
  await saveWrittenOff(tx, name, ctx.clock.now())
  try {
    await post(ctx, tx, {
      key: `transfer.written_off:${network}:${transferName(name)}`,
      reason: 'transfer.written_off',
      subject: reference,
      network,
      moves: await movesFromFees(tx, network, transfer.amount),
    })
  } catch (error) {
    if (isOverdraft(error)) throw feesTooLow()
    throw error
  }
  const writtenOff = await lockOutgoingTransfer(tx, name)
  assert(writtenOff !== undefined, `${reference} was written off`)
  return writtenOff
}

/**
 * A known payout posts its payment itself. Exceptions: another payment made the payout final, or the payout waits because
 * this payment contains its id and does not pay its amount to its payee; writing it off ends that hold.
 */
async function rejectExplained(tx: Tx, transfer: OutgoingTransfer): Promise<void> {
  const { payoutId, reference } = transfer
  if (payoutId === null) return
  const payout = await findPayout(tx, payoutId)
  if (payout === undefined) return
  if (payout.state === 'final' && payout.finalReference !== reference) return
  if (!hasEnded(payout) && !paysExactly(payout, transfer)) return
  const next = payout.state === 'failed' ? 'Retry that payout instead.' : 'You do not need to do anything.'
  throw new ApiError('conflict', `This payment belongs to payout ${payoutId}. ${next}`)
}

/** The fees are stored in several stripes; each pays what it holds. */
async function movesFromFees(tx: Tx, network: Network, amount: Usdc): Promise<Move[]> {
  const moves: Move[] = []
  let left: bigint = amount
  for (const stripe of stripesOf(fees(network))) {
    const held = await balanceOf(tx, stripe)
    const part = held < left ? held : left
    if (part <= 0n) continue
    moves.push({ from: stripe, to: world(network), amount: usdc(part) })
    left -= part
  }
  if (left > 0n) throw feesTooLow()
  return moves
}

const feesTooLow = (): ApiError =>
  new ApiError(
    'conflict',
    'The fees on this network do not cover this payment. Send USDC of the platform to the treasury, recognize it as revenue, and try again.',
  )
