import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { normalizeReference } from '../payments/index.ts'
import {
  findListedPayout,
  type ListedPayout,
  type OutgoingTransfer,
  recognizeRevenue,
  refundTransfer as requestRefund,
  writeOffTransfer as writeOff,
} from '../payouts/index.ts'
import { requirePayee } from './payee.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

interface TransferInput {
  readonly network: Network
  readonly reference: string
  readonly reason: string
}

/** An operator refunds what a transfer left in suspense or as surplus. */
export function refundTransfer(
  ctx: Ctx & Needs<'signatures' | 'chains'>,
  input: TransferInput & { readonly from: 'suspense' | 'surplus'; readonly payee?: string | undefined },
): Promise<ListedPayout> {
  const { network, from, reason } = input
  const reference = normalizeReference(network, input.reference)
  const payee = input.payee === undefined ? {} : { payee: requirePayee(ctx, network, input.payee) }
  return ctx.transact(async (tx) => {
    const { id } = await requestRefund(ctx, tx, { network, reference, from, ...payee })
    const payout = await findListedPayout(tx, id)
    assert(payout !== undefined, `${id} was requested`)
    await record(ctx, tx, {
      act: 'transfer.refunded',
      subject: reference,
      details: {
        reason,
        network,
        from,
        payout: id,
        payee: payout.payee,
        amount_usd: formatUsd(payout.amount),
      },
    })
    return payout
  })
}

interface RecognizedTransfer {
  readonly network: Network
  readonly reference: string
  readonly amount: Usdc
}

/** An operator recognizes a transfer that the platform itself made as revenue. */
export function recognizeTransfer(ctx: Ctx, input: TransferInput): Promise<RecognizedTransfer> {
  const { network, reason } = input
  const reference = normalizeReference(network, input.reference)
  return ctx.transact(async (tx) => {
    const amount = await recognizeRevenue(ctx, tx, { network, reference })
    await record(ctx, tx, {
      act: 'transfer.recognized',
      subject: reference,
      details: { reason, network, amount_usd: formatUsd(amount) },
    })
    return { network, reference, amount }
  })
}

/** An operator writes off a payment that no payout explains as a loss of the platform. */
export function writeOffTransfer(ctx: Ctx, input: TransferInput): Promise<OutgoingTransfer> {
  const { network, reason } = input
  const reference = normalizeReference(network, input.reference)
  return ctx.transact(async (tx) => {
    const transfer = await writeOff(ctx, tx, { network, reference })
    await record(ctx, tx, {
      act: 'transfer.written_off',
      subject: reference,
      details: { reason, network, payout: transfer.payoutId, amount_usd: formatUsd(transfer.amount) },
    })
    return transfer
  })
}
