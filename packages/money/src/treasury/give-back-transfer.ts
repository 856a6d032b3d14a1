import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { normalizeReference } from '../payments/index.ts'
import { giveBack } from '../payouts/index.ts'
import { requirePayee } from './payee.ts'
import { findPayout, type ListedPayout } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId' | 'signatures' | 'chains'>

interface Wanted {
  readonly network: Network
  readonly reference: string
  readonly from: 'suspense' | 'surplus'
  readonly payee?: string | undefined
  readonly reason: string
}

/** An operator sends back what a transfer left in suspense or as surplus. */
export function giveBackTransfer(ctx: Ctx, wanted: Wanted): Promise<ListedPayout> {
  const { network, from, reason } = wanted
  const reference = normalizeReference(network, wanted.reference)
  const payee = wanted.payee === undefined ? {} : { payee: requirePayee(ctx, network, wanted.payee) }
  return ctx.transact(async (tx) => {
    const { id } = await giveBack(ctx, tx, { network, reference, from, ...payee })
    const payout = await findPayout(tx, id)
    assert(payout !== undefined, `${id} was asked for`)
    await record(ctx, tx, {
      act: 'transfer.given_back',
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
