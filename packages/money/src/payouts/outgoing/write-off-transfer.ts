import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, fees, isOverdraft, type Move, post, stripesOf, world } from '../../ledger/index.ts'
import { isWaiting, type PayoutId } from '../payout.ts'
import { findPayout } from '../store.ts'
import { isAsOwed, type OutgoingTransfer } from './outgoing-transfer.ts'
import { lockOutgoingTransfer, saveBooked } from './store.ts'

/**
 * Books a payment that nobody here can explain as a loss of the platform: the books then say again what the treasury
 * holds. If the payout it was comes back after all, its settling gives the fees their money back.
 */
export async function writeOffTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, reference }: { network: Network; reference: string },
): Promise<void> {
  const sending = await lockOutgoingTransfer(tx, network, reference)
  if (sending === undefined)
    throw new ApiError('not_found', `No payment ${reference} out of the treasury is known on ${network}`)
  if (sending.bookedAt !== null) return
  if (!sending.final)
    throw new ApiError('conflict', 'This payment may still be undone. Try again when it is final.')
  await rejectKnown(tx, sending)
  await saveBooked(tx, sending, ctx.clock.now())
  try {
    await post(ctx, tx, {
      key: `sending.booked:${network}:${reference}`,
      reason: 'sending.booked',
      subject: reference,
      network,
      moves: await fromFees(tx, network, sending.amount),
    })
  } catch (error) {
    if (isOverdraft(error)) throw tooLittle()
    throw error
  }
}

/**
 * A payout that is known here settles its payment itself, unless another payment has settled it already, or it waits
 * because this one names it and did not pay what it owes: booked, it no longer keeps the payout waiting.
 */
async function rejectKnown(tx: Tx, sending: OutgoingTransfer): Promise<void> {
  const { payoutId, reference } = sending
  if (payoutId === null) return
  const payout = await findPayout(tx, payoutId as PayoutId)
  if (payout === undefined) return
  if (payout.state === 'final' && payout.finalReference !== reference) return
  if (isWaiting(payout) && !isAsOwed(payout, sending)) return
  const next = payout.state === 'failed' ? 'Try that payout again instead' : 'Nothing is to be done'
  throw new ApiError('conflict', `This payment is the payout ${payoutId}, which settles it. ${next}.`)
}

/** Fees are moved out per stripe. */
async function fromFees(tx: Tx, network: Network, amount: Usdc): Promise<Move[]> {
  const moves: Move[] = []
  let left: bigint = amount
  for (const stripe of stripesOf(fees(network))) {
    const held = await balanceOf(tx, stripe)
    const part = held < left ? held : left
    if (part <= 0n) continue
    moves.push({ from: stripe, to: world(network), amount: usdc(part) })
    left -= part
  }
  if (left > 0n) throw tooLittle()
  return moves
}

const tooLittle = (): ApiError =>
  new ApiError(
    'conflict',
    'The fees on this network do not cover this payment. Send USDC of the platform to the treasury, keep it as fees, and try again.',
  )
