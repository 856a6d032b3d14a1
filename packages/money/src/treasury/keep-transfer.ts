import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, suspense } from '../ledger/index.ts'
import { normalizeReference } from '../payments/index.ts'
import { keepDeposit } from '../payouts/index.ts'
import { lockTransfer } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

interface KeptTransfer {
  readonly network: Network
  readonly reference: string
  readonly amount: Usdc
}

/** An operator says that a transfer was the platform's own: it becomes fees. */
export function keepTransfer(
  ctx: Ctx,
  wanted: { network: Network; reference: string; reason: string },
): Promise<KeptTransfer> {
  const { network, reason } = wanted
  const reference = normalizeReference(network, wanted.reference)
  return ctx.transact(async (tx) => {
    const transfer = await lockTransfer(tx, network, reference)
    if (transfer !== undefined && transfer.purpose !== '')
      throw new ApiError(
        'conflict',
        'This transfer paid for something; what is left of it is of others. Give it back.',
      )
    const amount = usdc(await balanceOf(tx, suspense(network, reference)))
    await keepDeposit(ctx, tx, { network, reference })
    await record(ctx, tx, {
      act: 'transfer.kept',
      subject: reference,
      details: { reason, network, amount_usd: formatUsd(amount) },
    })
    return { network, reference, amount }
  })
}
